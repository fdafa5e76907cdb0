import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import type { RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { runCodeContract } from "../../src/operations/session-contract.ts";
import { runCodeHandler } from "../../src/operations/session-handler.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { sessionImages } from "../helpers/test-images.ts";

const registry = await PackageRegistry.start();
registry.addNpm({ name: "gb-true", version: "1.0.0", files: { "index.js": "module.exports = 'true';\n" } });
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel/__init__.py": "word = 'true'\n" } });
registry.addNpm({
  name: "gb-link",
  version: "1.0.0",
  files: { "index.js": "module.exports = 'link';\n" },
  links: { out: "/etc", "out.js": "../gb-true/index.js", node_modules: ".." },
});
registry.addWheel({
  name: "gb_overlap",
  version: "1.0",
  files: {
    "gb_overlap.py": "word = 'overlap'\n",
    "gb_wheel/__init__.py": "word = 'poison'\n",
    "gb_wheel/planted.py": "",
    "json/__init__.py": "word = 'poison'\n",
  },
});
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => {
  registry[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

interface Session {
  readonly principal: string;
  /** Calls over one connection share their session. */
  readonly connection: string;
}

/** How a program poisons a package in each language, and how another one imports it. */
const languages = {
  typescript: {
    packages: ["gb-true"],
    use: "import word from 'gb-true';\nconsole.log(word);",
    // Any way that works leaves a different module to be imported.
    poison: `
const fs = require("node:fs");
const path = require("node:path");
const file = require.resolve("gb-true");
const bad = "module.exports = 'poison';";
const through = (name, make) => { make(file, "/packages/" + name); fs.writeFileSync("/packages/" + name, bad); };
const ways = {
  write: () => fs.writeFileSync(file, bad),
  append: () => fs.appendFileSync(file, bad),
  chmod: () => { fs.chmodSync(file, 0o777); fs.writeFileSync(file, bad); },
  chmodFolder: () => { fs.chmodSync(path.dirname(file), 0o777); fs.writeFileSync(file, bad); },
  truncate: () => fs.truncateSync(file),
  remove: () => fs.unlinkSync(file),
  replaceFolder: () => fs.renameSync(path.dirname(file), path.dirname(file) + "-old"),
  newModule: () => fs.writeFileSync(path.join(path.dirname(file), "..", "new.js"), bad),
  symlink: () => through("soft.js", fs.symlinkSync),
  hardlink: () => through("hard.js", fs.linkSync),
  linkedFolder: () => { fs.symlinkSync(path.dirname(file), "/packages/folder"); fs.writeFileSync("/packages/folder/index.js", bad); },
};
for (const [name, way] of Object.entries(ways)) { try { way(); console.log("DONE", name); } catch {} }
fs.mkdirSync("/packages/node_modules/gb-true", { recursive: true });
fs.writeFileSync("/packages/node_modules/gb-true/index.js", bad);
fs.mkdirSync("/packages/gb-true");
fs.writeFileSync("/packages/gb-true/index.js", bad);
console.log("tried", require(file));
`,
  },
  python: {
    packages: ["gb_wheel"],
    use: "import gb_wheel\nprint(gb_wheel.word)",
    poison: `
import os, shutil
import gb_wheel
file = gb_wheel.__file__
folder = os.path.dirname(file)
bad = "word = 'poison'"
def write(at):
    with open(at, "w") as out: out.write(bad)
def chmod(): os.chmod(file, 0o777); write(file)
def chmod_folder(): os.chmod(folder, 0o777); write(file)
def compiled(): os.makedirs(folder + "/__pycache__", exist_ok=True); write(folder + "/__pycache__/__init__.cpython-311.pyc")
def symlink(): os.symlink(file, "/packages/soft.py"); write("/packages/soft.py")
def hardlink(): os.link(file, "/packages/hard.py"); write("/packages/hard.py")
def linked_folder(): os.symlink(folder, "/packages/folder"); write("/packages/folder/__init__.py")
def path_file(): write(os.path.join(os.path.dirname(folder), "poison.pth"))
ways = [lambda: write(file), chmod, chmod_folder, lambda: os.truncate(file, 0), lambda: os.unlink(file),
  lambda: os.rename(folder, folder + "-old"), lambda: write(os.path.dirname(folder) + "/new.py"), compiled, symlink,
  hardlink, linked_folder, path_file, lambda: shutil.rmtree(folder)]
for number, way in enumerate(ways):
    try: way(); print("DONE", number)
    except OSError: pass
os.makedirs("/packages/gb_wheel", exist_ok=True)
write("/packages/gb_wheel/__init__.py")
write("/packages/sitecustomize.py")
print("tried", open(file).read().strip())
`,
  },
} as const;
const after = { typescript: "tried true\n", python: "tried word = 'true'\n" } as const;

describe.each(engines)("the packages of sessions on %s", (engine) => {
  useGlovebox(engine);
  let platform: Platform;
  let other: Platform;
  beforeAll(async () => {
    const settings = {
      images: sessionImages,
      network: registry.network,
      packages: { directory: path.join(folder, engine) },
    };
    const { config, host } = await loadHostConfig({ settings });
    const open = (): Promise<Platform> => createPlatform({ config, host, door: "person", defaultEngine: engine });
    [platform, other] = await Promise.all([open(), open()]);
    return async () => void (await Promise.all([platform.close(), other.close()]));
  });
  beforeEach(() => registry.forget());

  const call = (where: Platform, session: Session, request: object): Promise<RunCodeResponse> =>
    runCodeHandler.run(where, parseRequest(runCodeContract, request), session);

  it.each(["typescript", "python"] as const)("cannot be poisoned by one of them for others: %s", async (language) => {
    const { packages, use, poison } = languages[language];
    const poisoner: Session = { principal: "one", connection: `poisoner ${language}` };
    const neighbour: Session = { principal: "one", connection: `neighbour ${language}` };
    // The testbed's image for sessions has no pip.
    const image = language === "python" && engine !== "local" ? { image: sessionImages.python } : {};
    const asked = { language, packages: [...packages], ...image };
    const importing = { ...asked, code: use };
    // A package that is already there, and stays.
    expect(await call(platform, neighbour, importing)).toMatchObject({ stdout: "true\n", stderr: "" });
    const poisoned = await call(platform, poisoner, { ...asked, code: poison });
    expect(poisoned.stdout, poisoned.stderr).toBe(after[language]);

    expect(await call(platform, neighbour, importing)).toMatchObject({ stdout: "true\n", restarted: false });
    await platform.sessions.endConnection(poisoner);
    const nexts = [
      call(platform, poisoner, importing),
      call(platform, { principal: "two", connection: language }, importing),
      call(other, { principal: "one", connection: language }, importing),
    ];
    for (const next of await Promise.all(nexts)) expect(next).toMatchObject({ outcome: "completed", stdout: "true\n" });
    expect(registry.downloads("gb")).toBeLessThanOrEqual(1);
  });

  it("have no link that leads out of a package", async () => {
    const where: Session = { principal: "one", connection: "link" };
    const code = `import fs from "node:fs";
import word from "gb-link";
import other from "gb-true";
const entries = fs.readdirSync("/node_modules", { withFileTypes: true, recursive: true });
console.log(word, other, entries.filter((entry) => !entry.isFile() && !entry.isDirectory()).length);
console.log(fs.existsSync("/node_modules/gb-link/out"), fs.existsSync("/node_modules/gb-link/node_modules"));`;
    const seen = await call(platform, where, { language: "typescript", packages: ["gb-link", "gb-true"], code });
    expect(seen.stdout, seen.stderr).toBe("link true 0\nfalse false\n");
  });

  it("keep what is imported already from a package that brings files of its names", async () => {
    const python = { language: "python", ...(engine === "local" ? {} : { image: sessionImages.python }) } as const;
    const where: Session = { principal: "one", connection: "overlap" };
    const code = "import gb_wheel, json\nprint(gb_wheel.word, json.dumps(1))";
    const first = await call(platform, where, { ...python, packages: ["gb_wheel"], code });
    expect(first).toMatchObject({ stdout: "true 1\n" });
    const second = await call(platform, where, {
      ...python,
      packages: ["gb_overlap"],
      code: `import gb_overlap\nprint(gb_overlap.word)\n${code}`,
    });
    expect(second).toMatchObject({ stdout: "overlap\ntrue 1\n", container_id: first.container_id });
    const neighbour = { principal: "one", connection: "beside overlap" };
    const list = `${code}\nimport os\nprint(sorted(os.listdir(os.path.dirname(gb_wheel.__file__))))`;
    expect(await call(platform, neighbour, { ...python, packages: ["gb_wheel"], code: list })).toMatchObject({
      stdout: "true 1\n['__init__.py', '__pycache__']\n",
    });
  });

  it("cannot be written where they were linked into a live sandbox, nor through what is linked later", async () => {
    const { packages, use, poison } = languages.typescript;
    const where: Session = { principal: "one", connection: "late" };
    const first = await call(platform, where, { language: "typescript", packages: [], code: "console.log(1)" });
    const poisoned = await call(platform, where, { language: "typescript", packages: [...packages], code: poison });
    expect(poisoned).toMatchObject({ stdout: "tried true\n", container_id: first.container_id });
    const beside =
      'const fs = require("fs");\nfor (const file of ["/node_modules/new.js", "/site-packages/lib/new.py", "/site-packages/start/sitecustomize.py"]) { try { fs.writeFileSync(file, ""); console.log("DONE", file); } catch {} }\nconsole.log("tried");';
    const written = await call(platform, where, { language: "javascript", packages: [], code: beside });
    expect(written).toMatchObject({ stdout: "tried\n" });
    // Whatever the owner of the files is: for an ordinary user, Glovebox and its programs may be the same user.
    const modes = `const lines = require("fs").readFileSync("/proc/mounts", "utf8").split("\\n").map((line) => line.split(" "));
console.log(["/node_modules", "/site-packages"].map((at) => lines.find(([, to]) => to === at)?.[3].split(",")[0]).join());`;
    const mounted = await call(platform, where, { language: "javascript", packages: [], code: modes });
    expect(mounted.stdout, mounted.stderr).toBe("ro,ro\n");
    const neighbour = { principal: "two", connection: "beside late" };
    const importing = { language: "typescript", packages: [...packages], code: use };
    expect(await call(platform, neighbour, importing)).toMatchObject({ stdout: "true\n" });
  });
});
