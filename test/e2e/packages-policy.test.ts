import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { sessionImages } from "../helpers/test-images.ts";

const hour = 3_600_000;
const registry = await PackageRegistry.start();
for (const [version, hours] of Object.entries({ "1.0.0": 48, "2.0.0": 1 })) {
  const published = new Date(Date.now() - hours * hour);
  registry.addNpm({ name: "gb-aged", version, files: { "index.js": `module.exports = '${version}';\n` }, published });
}
registry.addNpm({ name: "gb-timeless", version: "1.0.0", files: { "index.js": "module.exports = 'timeless';\n" } });
registry.addNpm({
  name: "gb-young",
  version: "1.0.0",
  files: { "index.js": "" },
  published: new Date(Date.now() - hour),
});
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel.py": "name = 'wheel'\n" } });
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", directory]);
});

describe.each(engines)("what the operator lets be installed on %s", (engine) => {
  const base = { images: sessionImages, network: registry.network };
  const usual = useGlovebox(engine, { settings: { ...base, packages: { directory } } });
  const own = path.join(directory, engine);
  const strict = useGlovebox(engine, {
    settings: {
      ...base,
      packages: { directory: own, allow: ["gb-*", "python:*"], deny: ["gb-timeless"], min_age: "72h" },
    },
  });
  const javascript = { language: "javascript", packages: "auto" } as const;

  it("is what has been published for a day, unless they say otherwise", async () => {
    const code = 'console.log(require("gb-aged"), require("gb-timeless"))';
    const answers = await Promise.all([
      usual().execute({ ...javascript, code }),
      usual().runCode({ ...javascript, code }),
    ]);
    for (const answer of answers) expect(answer.stdout, answer.stderr).toBe("1.0.0 timeless\n");
    await expect(usual().execute({ ...javascript, code: 'require("gb-young")' })).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      suggestion: expect.stringContaining("packages.min_age"),
      context: { packages: ["gb-young"], setting: "packages.min_age" },
    });
    await expect(strict().execute({ ...javascript, code: 'require("gb-aged")' })).rejects.toMatchObject({
      context: { packages: ["gb-aged"], setting: "packages.min_age" },
    });
  });

  it("is what they allow and do not deny", async () => {
    registry.forget();
    const refusals = [
      { code: 'require("zod")', setting: "packages.allow", name: "zod" },
      { code: 'require("gb-timeless")', setting: "packages.deny", name: "gb-timeless" },
    ];
    for (const { code, setting, name } of refusals) {
      const refusal = {
        errorType: "POLICY_DENIED",
        message: expect.stringContaining(name),
        suggestion: expect.stringContaining(setting),
        context: { package: name, setting },
      };
      await expect(strict().execute({ ...javascript, code })).rejects.toMatchObject(refusal);
      await expect(strict().runCode({ language: "javascript", code })).rejects.toMatchObject(refusal);
    }
    expect(registry.requests).toEqual([]);
  });

  it("is, for Python, refused if its age is unknown and one was demanded, and installed if none was", async () => {
    const python = {
      language: "python",
      packages: "auto",
      code: "import gb_wheel\nprint(gb_wheel.name)",
    } as const;
    const answer = await usual().execute(python);
    expect(answer.stdout, answer.stderr).toBe("wheel\n");
    await expect(strict().execute(python)).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      message: expect.stringContaining("how long packages have been published"),
    });
  });

  it("is unknown if the registry does not answer, which is reported as such and not blamed on the packages", async () => {
    registry.isDown = true;
    onTestFinished(() => void (registry.isDown = false));
    const unreachable = {
      errorType: "PACKAGE_INSTALL_FAILED",
      message: expect.stringContaining("registry could not be reached"),
      suggestion: expect.not.stringContaining("Check the package's name"),
      context: { retryable: true },
    };
    await expect(usual().execute({ ...javascript, code: 'require("gb-other")' })).rejects.toMatchObject(unreachable);
    const python = { language: "python", packages: "auto", code: "import gb_other" } as const;
    await expect(usual().execute(python)).rejects.toMatchObject(unreachable);
  });
});
