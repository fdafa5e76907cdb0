import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { bunCommand, noScriptsMark, noProcessMark, npmCommand } from "../../src/packages/package-manager.ts";
import { sealedPip } from "../../src/packages/min-age.ts";
import { wheelsOnlyMark } from "../../src/policy/install-policy.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";

const registry = await PackageRegistry.start("127.0.0.1");
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-installers-")));
afterAll(() => {
  registry[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

const ran = path.join(folder, "ran");
const [bin, home] = [path.join(folder, "bin"), path.join(folder, "home")];

/** A program that is found before the machine's own. */
function standIn(name: string, text: string): void {
  writeFileSync(path.join(bin, name), text);
  chmodSync(path.join(bin, name), 0o755);
}

async function run(command: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const [file = "", ...values] = command;
  const child = spawn(file, values, {
    cwd: path.join(folder, "set"),
    env: {
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      HOME: home,
      npm_config_cache: path.join(home, "cache"),
      npm_config_registry: `${registry.base}/`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => void (output += String(bytes)));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}

beforeEach(() => {
  for (const each of [ran, bin, home, path.join(folder, "set")]) {
    rmSync(each, { recursive: true, force: true });
    mkdirSync(each);
  }
  writeFileSync(path.join(folder, "set", "package.json"), '{"private":true}');
});

describe("npm", () => {
  registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": "" } });
  registry.addGit("gb-inner", { "package.json": '{"name":"gb-inner","version":"1.0.0"}' });
  registry.addGit("gb-settings", {
    "package.json": JSON.stringify({
      name: "gb-settings",
      version: "1.0.0",
      scripts: { prepare: "true" },
      devDependencies: { "gb-inner": `git+${registry.base}/git/gb-inner.git` },
    }),
    ".npmrc": "git=./git.sh\n",
    "git.sh": `#!/bin/sh\ntouch '${ran}/settings'\nexit 1\n`,
  });
  const dependencies = { "gb-settings": `git+${registry.base}/git/gb-settings.git` };
  registry.addNpm({ name: "gb-wants-settings", version: "1.0.0", files: {}, dependencies });
  const install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--"];

  it("runs what a repository's own settings say, if nothing but scripts is ignored", async () => {
    await run([...install, "gb-wants-settings"]);
    expect(readdirSync(ran)).toEqual(["settings"]);
  });

  it("starts no process for it when it is ours", async () => {
    const { code, output } = await run(npmCommand([...install, "gb-wants-settings"], home));
    expect(output).toContain(noProcessMark);
    expect(code).not.toBe(0);
    expect(readdirSync(ran)).toEqual([]);
  });

  it("installs what the registry has all the same", async () => {
    expect(await run(npmCommand([...install, "gb-tiny"], home))).toMatchObject({ code: 0 });
    expect(readdirSync(path.join(folder, "set", "node_modules"))).toContain("gb-tiny");
  });

  it("has no function left that starts a process", async () => {
    standIn(
      "npm",
      `#!/usr/bin/env node
const children = require("node:child_process");
const imported = import("node:child_process");
const ways = (from) => ({
  spawn: () => from.spawn("true"), spawnSync: () => from.spawnSync("true"),
  exec: () => from.exec("true"), execSync: () => from.execSync("true"),
  execFile: () => from.execFile("true"), execFileSync: () => from.execFileSync("true"),
  fork: () => from.fork(__filename), child: () => new from.ChildProcess().spawn({ file: "true", args: [] }),
});
imported.then((names) => {
  for (const from of [children, names]) for (const [name, way] of Object.entries(ways(from))) {
    try { way(); console.log("started " + name); } catch (error) { console.log(error.message); }
  }
});`,
    );
    const { output } = await run(npmCommand(install, home));
    expect(output.trim().split("\n")).toHaveLength(16);
    expect(output).not.toContain("started");
    for (const line of output.trim().split("\n")) expect(line).toContain(noProcessMark);
  });

  it("installs nothing if it is another program, which would not be kept from processes", async () => {
    standIn("npm", "#!/bin/sh\necho installed\n");
    const { code, output } = await run(npmCommand(install, home));
    expect(output).toContain("cannot be kept from starting programs");
    expect(code).toBe(1);
  });
});

describe("bun", () => {
  const ages = "Flags: --minimum-release-age=<val>";
  const options = ["--exact", "--", "gb-tiny"];
  const bun = (version: string, help = ages) =>
    standIn(
      "bun",
      `#!/bin/sh\ncase "$*" in --version) echo '${version}' ;; "add --help") echo '${help}' ;; *) echo "$@" ;; esac\n`,
    );

  it.each([
    ["1.3.5", true],
    ["1.4.0-canary.12", true],
    ["2.0.0", true],
    ["1.10.1", true],
    ["1.3.4", false],
    ["1.2.20", false],
    ["0.9.9", false],
    ["1", false],
    ["of my own", false],
    ["", false],
  ])("%s runs scripts: %s", async (version, expected) => {
    bun(version);
    const { code, output } = await run(bunCommand(options, null));
    expect(code).toBe(0);
    const scripts = expected ? "" : `${noScriptsMark}\n`;
    expect(output).toBe(`${scripts}add ${expected ? "" : "--ignore-scripts "}--exact -- gb-tiny\n`);
  });

  it("gets the age, with or without scripts", async () => {
    const age = { ms: 3_600_000, beforeMs: 0, isDemanded: true };
    bun("1.4.5");
    expect((await run(bunCommand(options, age))).output).toBe("add --minimum-release-age=3600 --exact -- gb-tiny\n");
    bun("1.3.0");
    expect((await run(bunCommand(options, age))).output).toContain(
      "add --ignore-scripts --minimum-release-age=3600 --",
    );
    bun("1.2.0", "");
    expect(await run(bunCommand(options, age))).toMatchObject({
      code: 1,
      output: expect.stringContaining("error: this"),
    });
    const { output } = await run(bunCommand(options, { ...age, isDemanded: false }));
    expect(output).toMatch(/age of packages is unknown\nadd --ignore-scripts --exact -- gb-tiny\n$/);
  });
});

describe("pip", () => {
  const modules = path.join(folder, "modules");
  const pip = async (text: string): Promise<{ readonly code: number | null; readonly output: string }> => {
    mkdirSync(modules, { recursive: true });
    writeFileSync(path.join(modules, "pip.py"), text);
    return run(["env", `PYTHONPATH=${modules}`, ...sealedPip, "install", "--", "x"]);
  };

  it("has no way left that starts a process", async () => {
    const { output } = await pip(`
import os, subprocess, sys
ways = [
    lambda: subprocess.run(["true"]), lambda: subprocess.run(["/lib/ld-musl-x86_64.so.1", "true"]), lambda: subprocess.run("true", shell=True),
    lambda: subprocess.check_output("/lib/ld-musl-x86_64.so.1 true", shell=True), lambda: os.system("true"), lambda: os.popen("true"),
    lambda: os.posix_spawn("/bin/true", ["true"], {}), lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]),
    lambda: os.fork(), lambda: os.execv("/bin/true", ["true"]),
]
for way in ways:
    try: way(); print("started")
    except OSError as error: print(error)
print(sys.argv[1:])
`);
    const lines = output.trim().split("\n");
    expect(lines.pop()).toBe("['install', '--', 'x']");
    expect(lines).toHaveLength(10);
    for (const line of lines) expect(line).toContain(wheelsOnlyMark);
  });

  it("may ask musl's loader for its version", async () => {
    const text = `import subprocess\nprint("asked", subprocess.run(["/lib/ld-musl-none"], stderr=subprocess.PIPE))`;
    expect((await pip(text)).output).toContain(
      "FileNotFoundError: [Errno 2] No such file or directory: '/lib/ld-musl-none'",
    );
  });

  it("does not run where hooks are not there, or do nothing", async () => {
    const [, , script] = sealedPip;
    for (const change of ["del sys.addaudithook", "sys.addaudithook = lambda hook: None"]) {
      const { code, output } = await run(["python3", "-c", `import sys\n${change}\n${script}`, "--version"]);
      expect(output).toMatch(/^ERROR: glovebox: only wheels are installed/);
      expect(code).toBe(1);
    }
  });

  it("installs wheels", async () => {
    registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel.py": "" } });
    const target = path.join(folder, "target");
    const options = ["--target", target, "--index-url", `${registry.base}/simple`, "--", "gb_wheel"];
    const { code, output } = await run([...sealedPip, "install", ...options]);
    expect(code, output).toBe(0);
    expect(readdirSync(target)).toContain("gb_wheel.py");
  });
});
