import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { getProgram } from "../helpers/network-scene.ts";
import { engines } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { useWarmGlovebox } from "../helpers/warm-glovebox.ts";

const registry = await PackageRegistry.start();
const code = "module.exports = require('./package.json').version;\n";
registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": code } });
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel/__init__.py": "answer = 42\n" } });
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-warm-")));
const keyFile = path.join(folder, "key");
writeFileSync(keyFile, "sk-value-of-the-key\n");
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

describe.each(engines)("a run in a sandbox that waited, on %s,", (engine) => {
  const warm = useWarmGlovebox(
    { engine, runtime: {} },
    {
      network: registry.network,
      packages: { directory: path.join(folder, engine) },
      secrets: { KEY: { file: keyFile } },
    },
  );
  const [at = ""] = registry.network.private_hosts;

  it("has its way to the names that it may reach, and to no other", async () => {
    const request = { language: "python", code: getProgram } as const;
    const reached = await warm().run({ ...request, network: [at], args: [`http://${at}/gb-tiny`] });
    expect(reached.stdout, reached.stderr).toContain("1.0.0");
    const refused = await warm().run({ ...request, network: [at], args: ["http://elsewhere.test/"] });
    expect(refused).toMatchObject({ outcome: "policy_denied" });
    const without = await warm().run({ ...request, args: [`http://${at}/gb-tiny`] });
    expect(without).toMatchObject({ outcome: "failed", error: { error_type: "NETWORK_ERROR" } });
  });

  it("has its packages, which the sandbox that waited has held in the cache", async () => {
    const javascript = {
      language: "javascript",
      code: "console.log(require('gb-tiny'))",
    } as const;
    const one = await warm().run({ ...javascript, packages: ["gb-tiny"] });
    expect(one).toMatchObject({ stdout: "1.0.0\n", packages_installed: ["gb-tiny@1.0.0"] });
    const python = { language: "python", code: "import gb_wheel\nprint(gb_wheel.answer)" } as const;
    expect(await warm().run({ ...python, packages: ["gb-wheel"] })).toMatchObject({ stdout: "42\n" });
  });

  it("has its secrets, which the sandbox knew nothing of and no result shows", async () => {
    const code =
      "import os\nprint(len(os.environ['KEY']), os.environ['KEY'], 'KEY' in open('/proc/self/environ').read())";
    const response = await warm().run({ language: "python", code, secrets: ["KEY"] });
    expect(response.stdout).toMatch(/^19 \S+ False\n$/);
    expect(response.stdout).not.toContain("sk-value");
  });
});
