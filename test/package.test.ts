import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { projectFolder } from "./helpers/project-folder.ts";
import { serveGlovebox } from "./helpers/served-glovebox.ts";
import { PackedPackage } from "./package/packed-package.ts";

const run = (program: string, args: readonly string[], cwd: string) =>
  spawnSync(program, args, { cwd, encoding: "utf8", timeout: 60_000 });

/** A Node of the machine that is older than the package needs, or null. */
function findOldNode(needed: string): string | null {
  const isOlder = (program: string): boolean => {
    const found = /^v(\d+)\.(\d+)/.exec(run(program, ["--version"], projectFolder).stdout);
    const [major = 0, minor = 0] = needed.split(".").map(Number);
    return found !== null && Number(found[1]) * 1000 + Number(found[2]) < major * 1000 + minor;
  };
  return ["/usr/bin/node", "/usr/local/bin/node"].find((program) => existsSync(program) && isOlder(program)) ?? null;
}

let packed: PackedPackage;
let command: string;
beforeAll(() => {
  packed = new PackedPackage();
  command = join(packed.folder, packed.manifest.bin["glovebox"] ?? "missing");
  return () => packed[Symbol.dispose]();
});

describe("the published files", () => {
  it("are the compiled code, the runners, the deployment, the documents, and nothing else", () => {
    const allowed =
      /^(dist\/.+\.(js|d\.ts)|dist\/LICENCES\.txt|dist\/console\/console\.css|images\/.+|supervisor\/bin\/(?:supervisor-(?:x64|arm64)|LICENCES\.txt)|deploy\/.+|compose\.yaml|Dockerfile|\.dockerignore|docs\/.+\.md|docs\/(?:first-run|performance\/[a-z-]+)\.svg|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
    expect(packed.files.filter((path) => !allowed.test(path))).toEqual([]);
    expect(packed.files).toEqual(
      expect.arrayContaining([
        "dist/index.js",
        "dist/index.d.ts",
        "dist/cli/main.js",
        "dist/console/console.css",
        "dist/console/console.js",
        "docs/architecture.md",
        "docs/engines.md",
        ...["Dockerfile", ".dockerignore", "compose.yaml", "deploy/glovebox.service", "deploy/seccomp-profile.json"],
        "deploy/ca/README.md",
        ...["supervisor/bin/supervisor-x64", "supervisor/bin/supervisor-arm64"],
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
      ]),
    );
    expect(packed.files.filter((path) => path.startsWith("images/runners/")).length).toBeGreaterThan(1);
  });

  it("hold no tests and no paths of the machine that built them", () => {
    expect(packed.files.filter((path) => /\.test\.|^(?:dist\/)?tests?\//.test(path))).toEqual([]);
    const machine = [projectFolder.slice(0, -1), homedir()].filter((path) => path !== "/");
    const revealing = packed.files.filter((path) => {
      // An attack of `doctor --prove` looks through the root folder of a process.
      const text = readFileSync(join(packed.folder, path), "utf8").replaceAll("/proc/1/root/", "");
      return machine.some((folder) => text.includes(`${folder}/`));
    });
    expect(revealing).toEqual([]);
  });

  it("satisfy publint", async () => {
    const { messages, pkg } = await publint({ pkgDir: packed.folder, pack: false, strict: true });
    expect(pkg).toMatchObject({ name: "glovebox" });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("would not satisfy publint without the entry that the manifest names", async () => {
    const data = readFileSync(join(packed.folder, "package.json"), "utf8");
    const files = [{ name: "/package/package.json", data }];
    const { messages } = await publint({ pkgDir: "/package", pack: { files } });
    expect(messages.map((message) => message.code)).toContain("FILE_DOES_NOT_EXIST");
  });
});

describe("the library in a fresh project", () => {
  it("imports by every subpath, with its own dependencies only", () => {
    expect(packed.subpaths).toContain(".");
    const imports = packed.subpaths.map((path) => `await import(${JSON.stringify(path.replace(/^\./, "glovebox"))});`);
    const { status, stderr } = run(
      process.execPath,
      ["--input-type=module", "-e", imports.join("\n")],
      packed.consumer,
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("an error that a program does not catch", () => {
  it("is printed with the line that threw it and the names that led there", () => {
    const program = `import { createGlovebox } from "glovebox";
      await using glovebox = await createGlovebox({ engine: "local" });
      await glovebox.execute({ language: "cobol", code: "" });`;
    const file = join(packed.consumer, "uncaught.js");
    writeFileSync(file, program);
    const { status, stderr } = run(process.execPath, [file], packed.consumer);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("GloveboxError: ") });
    expect(stderr).toMatch(/at Glovebox\.execute \(.*\/chunks\/glovebox-[^/]+\.js:\d+:\d+\)/);
    expect(stderr.split("\n").filter((line) => line.length > 300)).toEqual([]);
  });
});

describe("the published command", () => {
  it("serves the console, with the licences of what is in it", async () => {
    await using served = await serveGlovebox({}, undefined, "local", [process.execPath, command]);
    const page = await (await fetch(`${served.url}/`)).text();
    const files = [...page.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path ?? "");
    expect(files).toHaveLength(2);
    const texts = await Promise.all(files.map(async (path) => (await fetch(`${served.url}${path}`)).text()));
    expect(texts.join("\n")).toContain("Permission is hereby granted");
  });

  it("says its version", () => {
    const { status, stdout, stderr } = run(process.execPath, [command, "--version"], packed.consumer);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${packed.manifest.version}\n`, stderr: "" });
    expect(readFileSync(command, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("says which Node it needs when it is run by an older one", (context) => {
    const needed = packed.manifest.engines.node.replace(">=", "");
    const oldNode = findOldNode(needed);
    if (oldNode === null) return context.skip(`no Node older than ${needed} on this machine`);
    const { status, stdout, stderr } = run(oldNode, [command, "--version"], packed.consumer);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(String.raw`^glovebox: [^\n]*Node ${needed.replaceAll(".", String.raw`\.`)}[^\n]*\n$`),
    );
  });
});
