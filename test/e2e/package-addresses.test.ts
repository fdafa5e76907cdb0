import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { ExecuteRequest, ExecuteResponse } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { pythonIndex } from "../helpers/python-index.ts";
import { testImages } from "../helpers/test-images.ts";

const index = pythonIndex();
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-addresses-")));
afterAll(() => execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]));
/** The pip that an image's own gives way to, before this process's environment points elsewhere. */
const download = ["download", "--quiet", "--no-deps", "--dest", path.join(folder, "pip"), "pip==26.0.1"];
if (index.fault === null) execFileSync("python3", ["-m", "pip", ...download], { timeout: 120_000 });

const registry = await PackageRegistry.start();
afterAll(() => registry[Symbol.dispose]());
const files = `${registry.base}/files`;
/** A request of this kind tells that a package's code ran. */
const tells = (what: string): string =>
  `import urllib.request; urllib.request.urlopen("${registry.base}/ran-${what}")\n`;
const project = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n';
const backend = (what: string) => ({ "pyproject.toml": project, "own.py": tells(what) });
const description = { "PKG-INFO": "Metadata-Version: 2.1\nName: gb\nVersion: 1.0\n" };
registry.addSource({ name: "gb_backend", version: "1.0", files: { ...description, ...backend("backend") } });
registry.addSource({ name: "gb_setup", version: "1.0", files: { ...description, "setup.py": tells("setup") } });
registry.addGit("gb_cloned", { ...description, ...backend("cloned") });
registry.addWheel({ name: "gb_plain", version: "1.0", files: { "gb_plain.py": "word = 'plain'\n" } });
const published = new Date(Date.now() - 30 * 24 * 3_600_000);
for (const [name, requires] of [
  ["gb_wants_backend", `gb_backend @ ${files}/gb_backend-1.0.tar.gz`],
  ["gb_wants_setup", `gb_setup @ ${files}/gb_setup-1.0.tar.gz`],
  ["gb_wants_cloned", `gb_cloned @ git+${registry.base}/git/gb_cloned.git`],
  ["gb_wants_plain", `gb_plain @ ${files}/gb_plain-1.0-py3-none-any.whl`],
] as const) {
  registry.addWheel({ name, version: "1.0", files: { [`${name}.py`]: "" }, requires, published });
}
if (index.fault === null) {
  const [file = ""] = readdirSync(path.join(folder, "pip"));
  registry.addPythonFile("pip", file, readFileSync(path.join(folder, "pip", file)));
}

const scripts = { preinstall: "touch ran", install: "touch ran", postinstall: "touch ran", prepare: "touch ran" };
// Of the names that Bun trusts.
const trusted = {
  "package.json": JSON.stringify({ name: "esbuild", version: "9.9.9", scripts }),
  "index.js": "module.exports = require('fs').existsSync(__dirname + '/ran');\n",
};
registry.addNpm({ name: "gb-not-esbuild", version: "9.9.9", files: trusted });
registry.addGit("esbuild", trusted);
const passesOn = { "index.js": "module.exports = require('esbuild');\n" };
for (const [name, esbuild] of [
  ["gb-wants-tarball", `${files}/gb-not-esbuild-9.9.9.tgz`],
  ["gb-wants-alias", "npm:gb-not-esbuild@9.9.9"],
  ["gb-wants-git", `git+${registry.base}/git/esbuild.git`],
] as const) {
  registry.addNpm({ name, version: "1.0.0", files: passesOn, dependencies: { esbuild } });
}

describe.each(engines)("packages that others name by an address, on %s,", (engine) => {
  const settings = { images: testImages, network: registry.network };
  const anyAge = useGlovebox(engine, {
    settings: { ...settings, packages: { directory: path.join(folder, `${engine}-any`), min_age: "0s" } },
  });
  const aged = useGlovebox(engine, {
    settings: { ...settings, packages: { directory: path.join(folder, `${engine}-aged`), min_age: "24h" } },
  });
  beforeEach(() => registry.forget());

  const run = (glovebox: () => ReturnType<typeof anyAge>, request: ExecuteRequest): Promise<ExecuteResponse> =>
    glovebox().execute({ timeout_seconds: 30, ...request });
  const ran = (): readonly string[] => registry.requests.filter((request) => request.includes("/ran-"));
  const cloned = (): readonly string[] => registry.requests.filter((request) => request.includes("/git/"));

  it.each(["backend", "setup", "cloned"])("are not built: %s", async (kind) => {
    const request = { language: "python", code: "1", packages: [`gb_wants_${kind}`] } as const;
    await expect(run(anyAge, { ...request, packages: [...request.packages] })).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      context: {
        packages: [`gb-wants-${kind}`],
        reason: expect.stringMatching(new RegExp(`gb_${kind}.* not a wheel; only wheels are installed`)),
      },
    });
    expect(registry.downloads("gb_wants")).toBe(1);
    expect(ran()).toEqual([]);
    expect(cloned()).toEqual([]);
  });

  it("are not built by a pip that knows of ages, fetched because the image's own does not", async (context) => {
    if (index.fault !== null) context.skip(index.fault);
    const request = { language: "python", code: "1", packages: ["gb_wants_backend"] } as const;
    await expect(run(aged, { ...request, packages: [...request.packages] })).rejects.toMatchObject({
      context: { reason: expect.stringContaining("only wheels are installed") },
    });
    expect(registry.downloads("pip-26")).toBe(1);
    expect(registry.downloads("gb_backend")).toBe(1);
    expect(ran()).toEqual([]);
  });

  it("are installed if they are wheels", async () => {
    const code = "import gb_plain; print(gb_plain.word)";
    const { stdout, stderr } = await run(anyAge, { language: "python", code, packages: ["gb_wants_plain"] });
    expect(stdout, stderr).toBe("plain\n");
  });

  it.each(["tarball", "alias"])("run no script, whatever name they bear: %s", async (kind) => {
    const name = `gb-wants-${kind}`;
    const code = `console.log("ran", require("${name}"))`;
    const { stdout, stderr } = await run(anyAge, { language: "javascript", code, packages: [name] });
    expect(stdout, stderr).toBe("ran false\n");
  });

  it("are not cloned", async () => {
    const request = { language: "javascript" as const, code: "1", packages: ["gb-wants-git"] };
    await expect(run(anyAge, request)).rejects.toMatchObject({ errorType: "PACKAGE_INSTALL_FAILED" });
    expect(registry.requests.some((request) => request.includes("/gb-wants-git"))).toBe(true);
    expect(cloned()).toEqual([]);
  });
});
