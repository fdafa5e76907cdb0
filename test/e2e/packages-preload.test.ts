import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { openPreloadGlovebox, type PreloadGlovebox } from "../helpers/preload-glovebox.ts";

const registry = await PackageRegistry.start("127.0.0.1");
const code = "module.exports = require('./package.json').version;\n";
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-preload-packages-")));
const ran = path.join(folder, "ran");
registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": code } });
registry.addNpm({
  name: "@gb/scoped",
  version: "3.0.0",
  files: { "index.js": "module.exports = require('gb-tiny');\n" },
});
registry.addNpm({ name: "gb-slow", version: "1.0.0", files: { "index.js": code } });
const leavesMark = `touch '${ran}'`;
registry.addNpm({
  name: "gb-script",
  version: "1.0.0",
  files: { "index.js": "module.exports = 'imported';\n" },
  scripts: { preinstall: leavesMark, install: leavesMark, postinstall: leavesMark },
});
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel/__init__.py": "answer = 42\n" } });
const setup = `open(${JSON.stringify(ran)}, "w")\n`;
registry.addSource({ name: "gb_source", version: "1.0", files: { "setup.py": setup } });
const address = `${registry.base}/files/gb_source-1.0.tar.gz`;
registry.addWheel({
  name: "gb_builds",
  version: "1.0",
  files: { "gb_builds.py": "" },
  requires: `gb_source @ ${address}`,
});
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

const bothPackages = `
import tiny from "gb-tiny";
import scoped from "@gb/scoped";
console.log([tiny, scoped].join() as string);`;
const asked = ["gb-tiny", "@gb/scoped"];
const outside = expect.stringContaining("installed outside a sandbox");

it("packages are refused at isolation preload unless the operator allows them, by the key that says so", async () => {
  await using glovebox = await openPreloadGlovebox();
  const refusal = {
    errorType: "PACKAGE_INSTALL_FAILED",
    message: expect.stringContaining("isolation preload"),
    suggestion: expect.stringMatching(/packages\.install_at_preload.*GLOVEBOX_PACKAGES_INSTALL_AT_PRELOAD/),
  };
  registry.forget();
  await expect(glovebox.execute({ language: "javascript", code: "1", packages: ["gb-tiny"] })).rejects.toMatchObject(
    refusal,
  );
  await expect(glovebox.runCode({ code: "1", packages: ["gb-tiny"] })).rejects.toMatchObject(refusal);
  expect(registry.downloads("")).toBe(0);
  expect((await glovebox.runCode({ code: bothPackages })).outcome).toBe("failed");
});

describe.each([
  ["as another user", false],
  ["as ourselves", true],
])("packages at isolation preload, where the operator allows them and programs run %s,", (_, asOurselves) => {
  let glovebox: PreloadGlovebox;
  beforeAll(async () => {
    const directory = path.join(folder, String(asOurselves));
    glovebox = await openPreloadGlovebox({
      asOurselves,
      settings: { packages: { directory, install_at_preload: true } },
    });
  });
  beforeEach(() => registry.forget());
  afterAll(() => glovebox[Symbol.asyncDispose]());

  it("are imported by TypeScript, with a warning, and not installed a second time", async () => {
    const request = { language: "typescript", code: bothPackages, packages: asked } as const;
    const first = await glovebox.execute({ ...request, packages: [...asked] });
    expect(first.stdout, first.stderr).toBe("1.0.0,1.0.0\n");
    expect(first).toMatchObject({ isolation: "preload", packages_installed: ["@gb/scoped@3.0.0", "gb-tiny@1.0.0"] });
    expect(first.warnings).toContainEqual(outside);
    expect(registry.downloads("gb-tiny")).toBe(1);
    registry.forget();
    const second = await glovebox.execute({ ...request, packages: [...asked] });
    expect(second.stdout).toBe("1.0.0,1.0.0\n");
    expect(second.warnings).toContainEqual(outside);
    expect(registry.downloads("")).toBe(0);
  });

  it("are imported by Python", async () => {
    const { stdout, stderr, packages_installed, warnings } = await glovebox.execute({
      language: "python",
      code: "import gb_wheel\nprint(gb_wheel.answer)",
      packages: ["gb-wheel"],
    });
    expect(stdout, stderr).toBe("42\n");
    expect(packages_installed).toEqual(["gb_wheel==1.0"]);
    expect(warnings).toContainEqual(outside);
  });

  it("are found by the imports of a session's programs, in both languages, and stay", async () => {
    const first = await glovebox.runCode({ code: bothPackages });
    expect(first.stdout, first.stderr).toBe("1.0.0,1.0.0\n");
    expect(first.warnings).toContainEqual(outside);
    const session = { session_id: first.session_id };
    const python = await glovebox.runCode({
      ...session,
      language: "python",
      code: "import gb_wheel, json; print(gb_wheel.answer)",
    });
    expect(python.stdout, python.stderr).toBe("42\n");
    registry.forget();
    const again = await glovebox.runCode({ ...session, code: bothPackages });
    expect(again).toMatchObject({
      stdout: "1.0.0,1.0.0\n",
      restarted: false,
      warnings: expect.arrayContaining([outside]),
    });
    expect(registry.downloads("")).toBe(0);
  });

  it("run no code of their own when they are installed", async () => {
    const script = {
      language: "javascript",
      code: "console.log(require('gb-script'))",
      packages: ["gb-script"],
    } as const;
    const { stdout, stderr } = await glovebox.execute({ ...script, packages: ["gb-script"] });
    expect(stdout, stderr).toBe("imported\n");
    // Named by an address: asking for wheels only would not keep it from being built.
    for (const name of ["gb_source", "gb_builds"]) {
      await expect(glovebox.execute({ language: "python", code: "1", packages: [name] })).rejects.toMatchObject({
        errorType: "PACKAGE_INSTALL_FAILED",
      });
    }
    expect(registry.downloads("gb_builds")).toBe(1);
    expect(existsSync(ran)).toBe(false);
  });

  it("cannot be changed by a program, nor is anything beside them to be read", async () => {
    const beside = path.join(folder, "beside.txt");
    writeFileSync(beside, "secret", { mode: 0o644 });
    const javascript = await glovebox.execute({
      language: "javascript",
      packages: ["gb-tiny"],
      args: [beside],
      code: `
const fs = require("node:fs"), path = require("node:path");
const file = require.resolve("gb-tiny");
const set = path.dirname(path.dirname(file));
const tried = [
  () => fs.writeFileSync(file, "module.exports = 'poison'"),
  () => fs.chmodSync(file, 0o777),
  () => fs.unlinkSync(file),
  () => fs.writeFileSync(path.join(set, "new.js"), ""),
  () => fs.renameSync(path.dirname(file), path.join(set, "other")),
  () => fs.readFileSync(process.argv[2]),
  () => fs.readFileSync(path.join(set, "..", "..", "guard", "node", "..", "python", "guard.py")),
].map((work) => { try { work(); return "DONE"; } catch (error) { return error.code; } });
console.log(tried.join(), require("gb-tiny"));`,
    });
    const denied = Array.from({ length: 7 }, () => "ERR_ACCESS_DENIED").join();
    expect(javascript.stdout, javascript.stderr).toBe(`${denied} 1.0.0\n`);
    const python = await glovebox.execute({
      language: "python",
      packages: ["gb_wheel"],
      args: [beside],
      code: `
import gb_wheel, os, sys
file = gb_wheel.__file__
set = os.path.dirname(os.path.dirname(file))
def tried(work):
    try: work()
    except OSError as error: return "glovebox" in str(error)
    return "DONE"
print([tried(work) for work in (
    lambda: open(file, "w"),
    lambda: os.chmod(file, 0o777),
    lambda: os.remove(file),
    lambda: open(set + "/new.py", "w"),
    lambda: os.rename(set + "/gb_wheel", set + "/other"),
    lambda: open(sys.argv[1]),
    lambda: os.listdir(set + "/../.."),
)], gb_wheel.answer)`,
    });
    expect(python.stdout, python.stderr).toBe(`[${Array.from({ length: 7 }, () => "True").join(", ")}] 42\n`);
    expect(readFileSync(beside, "utf8")).toBe("secret");
  });

  it("of a cancelled installation leave no process and no folder", async () => {
    const cancel = new AbortController();
    const request = { language: "javascript", code: "1", packages: ["gb-slow"] } as const;
    const given = glovebox.execute({ ...request, packages: ["gb-slow"] }, { signal: cancel.signal });
    given.catch(() => undefined);
    await expect.poll(() => registry.downloads("gb-slow"), { timeout: 60_000 }).toBeGreaterThan(0);
    expect(toolProcesses()).not.toEqual([]);
    cancel.abort();
    await expect(given).rejects.toMatchObject({ errorType: "CANCELLED" });
    await expect.poll(toolProcesses).toEqual([]);
  });

  it("that cannot be had are named, with the reason, and the code does not run", async () => {
    await expect(
      glovebox.execute({ language: "javascript", code: "1", packages: ["gb-tiny", "gb-no-such"] }),
    ).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      context: { packages: ["gb-no-such"], reason: expect.stringMatching(/404|Not Found/) },
    });
  });
});

/** Installing tools that this test's process started. */
function toolProcesses(): readonly string[] {
  const children = execFileSync("ps", ["-ww", "--ppid", String(process.pid), "-o", "args="], { encoding: "utf8" });
  return children.split("\n").filter((line) => line.includes("--ignore-scripts"));
}
