import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectFolder } from "./helpers/project-folder.ts";

const run = (program: string, args: readonly string[], cwd: string) =>
  spawnSync(program, args, { cwd, encoding: "utf8", timeout: 60_000 });

describe.skipIf(process.platform === "win32")("bin/glovebox in a checkout with spaces in its path", () => {
  let base: string;
  let checkout: string;
  const script = (): string => join(checkout, "bin", "glovebox");

  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-checkout-")));
    checkout = join(base, "a $(check) out");
    mkdirSync(join(checkout, "bin"), { recursive: true });
    mkdirSync(join(checkout, "node_modules", ".bin"), { recursive: true });
    mkdirSync(join(base, "links"));
    copyFileSync(join(projectFolder, "bin", "glovebox"), script());
    // Stands in for Node: prints what was started with which arguments, one per line.
    const node = join(checkout, "node_modules", ".bin", "node");
    writeFileSync(node, `#!/bin/sh\nprintf '%s\\n' "$$" "$@"\n`);
    chmodSync(node, 0o755);
    symlinkSync(script(), join(base, "links", "absolute"));
    symlinkSync("absolute", join(base, "links", "chain"));
    symlinkSync(join("..", "a $(check) out", "bin", "glovebox"), join(base, "links", "relative"));
    symlinkSync(join(checkout, "bin"), join(base, "bin-folder"));
  });
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  it.each(["a $(check) out/bin/glovebox", "links/absolute", "links/chain", "links/relative", "bin-folder/glovebox"])(
    "runs the sources of its checkout as %s, arguments untouched",
    (path) => {
      const { pid, status, stdout, stderr } = run(join(base, path), ["run", "-c", "print('$HOME  *')", ""], tmpdir());
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      // The same process id: the script has become Node, so signals reach it.
      const main = join(checkout, "src", "cli", "main.ts");
      expect(stdout).toBe(`${pid}\n${main}\nrun\n-c\nprint('$HOME  *')\n\n`);
    },
  );

  it("runs by a relative path and without CDPATH's help", () => {
    const started = spawnSync(`.${sep}glovebox`, ["x"], {
      cwd: join(checkout, "bin"),
      encoding: "utf8",
      env: { ...process.env, CDPATH: base },
    });
    expect(started.stdout).toBe(`${started.pid}\n${join(checkout, "src", "cli", "main.ts")}\nx\n`);
  });

  it("says what to run when the dependencies are missing", () => {
    const bare = join(base, "bare");
    mkdirSync(join(bare, "bin"), { recursive: true });
    copyFileSync(script(), join(bare, "bin", "glovebox"));
    const { status, stdout, stderr } = run(join(bare, "bin", "glovebox"), ["--version"], tmpdir());
    expect({ status, stdout }).toEqual({ status: 125, stdout: "" });
    expect(stderr).toMatch(/^glovebox: [^\n]*npm ci[^\n]*\n$/);
  });
});

describe.skipIf(process.platform === "win32")("bin/glovebox of this checkout", () => {
  it("prints its version, whatever Node comes first on the PATH", () => {
    const started = spawnSync(join(projectFolder, "bin", "glovebox"), ["--version"], {
      cwd: tmpdir(),
      encoding: "utf8",
      env: { PATH: "/usr/bin:/bin" },
    });
    expect(started.stderr).toBe("");
    expect(started.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
