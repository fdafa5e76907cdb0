import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { runTestsContract, type RunTestsResponse } from "../../src/operations/tests-contract.ts";
import { runTestsHandler } from "../../src/operations/tests-handler.ts";
import { startPreviewContract } from "../../src/operations/previews-contract.ts";
import { startPreviewHandler } from "../../src/operations/previews-handler.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { git } from "../helpers/git.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { sessionImages } from "../helpers/test-images.ts";

type Files = Readonly<Record<string, string>>;

/** What the package's own script sees and leaves; it runs when Bun installs packages that the project trusts. */
const leave = [
  "ls -A /work/project | tr '\\n' ' ' >seen",
  "mkfifo pipe",
  "ln -s /etc/passwd out",
  "ln -s ../../../.glovebox reports",
  "echo 'exit 0' >rights",
  "chmod 755 rights",
].join(" && ");
const registry = await PackageRegistry.start();
registry.addNpm({ name: "kept-word", version: "1.0.0", files: { "index.js": "module.exports = 'one';\n" } });
registry.addNpm({ name: "kept-word", version: "2.0.0", files: { "index.js": "module.exports = 'two';\n" } });
registry.addNpm({
  ...{ name: "kept-script", version: "1.0.0", files: { "index.js": "module.exports = 1;\n" } },
  scripts: { postinstall: leave },
});
registry.addWheel({ name: "kept_wheel", version: "1.0.0", files: { "kept_wheel.py": "word = 'wheel'\n" } });

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-kept-")));
const directory = path.join(folder, "cache");
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

const manifest = (dependencies: object, more: object = {}): string =>
  JSON.stringify({ name: "p", dependencies, ...more });
const locked = (version: string): Files => ({
  "package.json": manifest({ "kept-word": version }),
  "package-lock.json": JSON.stringify({
    name: "p",
    lockfileVersion: 3,
    packages: {
      "": { name: "p", dependencies: { "kept-word": version } },
      "node_modules/kept-word": { version, resolved: `${registry.base}/files/kept-word-${version}.tgz` },
    },
  }),
});
const test = (name: string, code: string): Files => ({
  [`${name}.test.js`]: `require("node:test").test(${JSON.stringify(name)}, () => { ${code} });`,
});
const expects = (word: string): Files =>
  test("word", `require("node:assert").equal(require("kept-word"), ${JSON.stringify(word)});`);

describe("dependencies of a project on docker that are kept for later runs", () => {
  useGlovebox("docker");
  let platform: Platform;
  beforeAll(async () => {
    mkdirSync(path.join(folder, "projects"));
    const settings = { images: sessionImages, network: registry.network, packages: { directory } };
    const { config, host } = await loadHostConfig({ settings });
    const workingDirectory = path.join(folder, "projects");
    platform = await createPlatform({
      config,
      host: { ...host, workingDirectory },
      door: "person",
      defaultEngine: "docker",
    });
    return () => platform.close();
  });
  beforeEach(() => registry.forget());

  let people = 0;
  /** A principal for whom nothing is kept yet, even when a test is retried. */
  const someone = (): string => `person-${(people += 1)}`;
  const projectOf = (files: Files): string => {
    const project = path.join(folder, "projects/project");
    rmSync(project, { recursive: true, force: true });
    mkdirSync(project);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
      writeFileSync(path.join(project, name), text);
    }
    return project;
  };
  const run = (files: Files, test_command: string, principal: string): Promise<RunTestsResponse> => {
    const request = parseRequest(runTestsContract, { project_path: projectOf(files), test_command });
    return runTestsHandler.run(platform, request, { principal });
  };
  /** The answer of a preview's page; the preview is then ended. */
  const pageOf = async (files: Files, principal: string): Promise<string> => {
    const request = { project_path: projectOf(files), command: "node server.js", wait_seconds: 120 };
    const started = await startPreviewHandler.run(platform, parseRequest(startPreviewContract, request), { principal });
    expect(started, started.logs).toMatchObject({
      status: "running",
      setup_command: expect.stringMatching(/^npm ci /),
    });
    const page = await (await fetch(started.direct_url ?? "")).text();
    await platform.previews.stop(started.container_id, principal);
    return page;
  };

  it("come from the registry once, and a run that changes them changes its own copy", async () => {
    const spoil = 'require("node:fs").writeFileSync("node_modules/kept-word/index.js", "module.exports = \'spoilt\'");';
    const ann = someone();
    const first = await run({ ...locked("1.0.0"), ...expects("one"), ...test("z", spoil) }, "node --test", ann);
    expect(first, first.output).toMatchObject({ verdict: "passed", passed: 2 });
    expect(first.setup_command).toMatch(/^npm ci /);
    expect(registry.downloads("kept-word")).toBe(1);
    registry.forget();
    const again = await run({ ...locked("1.0.0"), ...expects("one") }, "node --test", ann);
    expect(again, again.output).toMatchObject({ verdict: "passed", passed: 1 });
    expect(registry.requests).toEqual([]);
    expect(readdirSync(path.join(folder, "projects/project"))).not.toContain("node_modules");
  });

  const passes = async (files: Files, who: string): Promise<void> => {
    const response = await run({ ...locked("1.0.0"), ...expects("one"), ...files }, "node --test", who);
    expect(response, response.output).toMatchObject({ verdict: "passed" });
  };

  it.each<[string, Files]>([
    ["files in the places of theirs", { "node_modules/kept-word/index.js": "module.exports = 'tracked'" }],
    ["a folder in the place of a file", { "node_modules/kept-word/index.js/x": "", "node_modules/kept-word/y": "" }],
  ])("take the place of a node_modules that git tracks, with %s", async (_, tracked) => {
    const ann = someone();
    const runTracked = async (): Promise<RunTestsResponse> => {
      const project_path = projectOf({ ...locked("1.0.0"), ...expects("one"), ...tracked });
      git(project_path, "init", "--quiet");
      git(project_path, "add", "--force", ".");
      const request = parseRequest(runTestsContract, { project_path, test_command: "node --test *.test.js" });
      return runTestsHandler.run(platform, request, { principal: ann });
    };
    for (let times = 0; times < 2; times += 1)
      await expect(runTracked()).resolves.toMatchObject({ verdict: "passed", passed: 1 });
  });

  it("belong to one principal only", async () => {
    await passes({}, someone());
    await passes({}, someone());
    expect(registry.downloads("kept-word")).toBe(2);
  });

  it("are not used for another manifest, whose scripts work on the copy of their run", async () => {
    const ann = someone();
    const scripts = { postinstall: "echo 'module.exports = \"mine\"' >node_modules/kept-word/index.js" };
    const scripted = { ...expects("mine"), "package.json": manifest({ "kept-word": "1.0.0" }, { scripts }) };
    await passes(scripted, ann);
    await passes({}, ann);
    expect(registry.downloads("kept-word")).toBe(2);
    await passes(scripted, ann);
    expect(registry.downloads("kept-word")).toBe(2);
  });

  it("are not used for another lockfile or other settings", async () => {
    const ann = someone();
    await passes({ ".npmrc": "save-exact=true\n" }, ann);
    await passes({}, ann);
    await passes({ ...locked("2.0.0"), ...expects("two") }, ann);
    expect(registry.downloads("kept-word")).toBe(3);
  });

  it("serve previews as well as test runs, of one principal only; what a run writes beside them is its own", async () => {
    const ann = someone();
    const code = `
const fs = require("node:fs"), cache = "node_modules/.vite";
const before = fs.existsSync(cache) ? "old" : "new";
fs.mkdirSync(cache, { recursive: true });
fs.writeFileSync(cache + "/deps.js", "");
fs.appendFileSync("node_modules/kept-word/index.js", "module.exports += '!';");
require("node:http").createServer((q, s) => s.end(before + " " + require("kept-word"))).listen(process.env.PORT);`;
    const serving = { ...locked("1.0.0"), "server.js": code };
    expect(await pageOf(serving, ann)).toBe("new one!");
    expect(registry.downloads("kept-word")).toBe(1);
    registry.forget();
    expect(await pageOf(serving, ann)).toBe("new one!");
    await passes({}, ann);
    expect(registry.requests).toEqual([]);
    expect(await pageOf(serving, someone())).toBe("new one!");
    expect(registry.downloads("kept-word")).toBe(1);
  });

  it("do not fit where the lockfile does not, in the installer's own words", async () => {
    const files = { ...locked("1.0.0"), ...expects("one"), "package.json": manifest({ "kept-word": "2.0.0" }) };
    const response = await run(files, "node --test", someone());
    expect(response).toMatchObject({ verdict: "could_not_run", counted: false });
    expect(response.reason).toMatch(/^The installation \(npm ci [^\n]+ ended with exit code 1\.$/);
    expect(response.output).toMatch(/npm ci.+package\.json and package-lock\.json/s);
  });

  it("bring no rights and no pipes along, and their scripts see nothing of the project", async () => {
    const files = {
      "package.json": manifest({ "kept-script": "1.0.0" }, { trustedDependencies: ["kept-script"] }),
      "bun.lock": `{ "lockfileVersion": 1, "workspaces": { "": { "name": "p", "dependencies": { "kept-script": "1.0.0" } } }, "trustedDependencies": ["kept-script"], "packages": { "kept-script": ["kept-script@1.0.0", "${registry.base}/files/kept-script-1.0.0.tgz", {}, ""] } }`,
      "secret.txt": "of the project",
    };
    const look =
      "cd node_modules/kept-script && cat seen && find . ! -type d -printf '%p %M\\n' && cat reports/* ; exit 3";
    const { output } = await run(files, look, someone());
    expect(output).toContain("package.json");
    expect(output).not.toContain("secret.txt");
    expect(output).toContain("./rights -rwxr-xr-x");
    expect(output).toContain("./out l");
    expect(output).not.toContain("./pipe");
    const set = (await platform.packages.list())[0];
    expect(readdirSync(path.join(directory, "sets", set?.id ?? "", "files"))).toEqual(["dependencies.tar"]);
  });

  it("are installed without a lockfile where that goes well, and may be missing", async () => {
    const code = { "test_a.py": "def test_a(): pass\n" };
    const [ann, build] = [someone(), '[build-system]\nrequires = ["there-is-none"]\n'];
    const needing = { "pyproject.toml": '[project]\nname = "p"\nversion = "1"\ndependencies = ["kept_wheel"]\n' };
    const found = { "test_a.py": "import kept_wheel\ndef test_a(): pass\n" };
    expect(await run({ ...found, ...needing }, "pytest", ann)).toMatchObject({ verdict: "passed" });
    const response = await run({ ...code, "pyproject.toml": build }, "pytest", ann);
    expect(response).toMatchObject({ verdict: "passed", passed: 1 });
    expect(response.warnings.join("\n")).toMatch(/pip install --editable .+ no lockfile/);
  });

  it("of pip are kept likewise", async () => {
    const files = { "requirements.txt": "kept_wheel==1.0.0\n", "test_a.py": "import kept_wheel\ndef test_a(): pass\n" };
    const ann = someone();
    expect(await run(files, "pytest", ann)).toMatchObject({ verdict: "passed" });
    registry.forget();
    expect(await run(files, "pytest", ann)).toMatchObject({ verdict: "passed" });
    expect(registry.requests).toEqual([]);
  });
});
