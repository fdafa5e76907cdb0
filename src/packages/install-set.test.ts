import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ecosystem } from "../policy/install-policy.ts";
import type { PackageSetRecord } from "./package-set.ts";
import { chooseParts, composeSet } from "./install-set.ts";

function recordOf(requested: readonly string[], more: Partial<PackageSetRecord> = {}): PackageSetRecord {
  return {
    ...{ version: 2, ecosystem: "npm", manager: "bun", platform: "test", requested },
    origin: { engine: "docker", image: "sha256:1", onHost: false, principal: "ann" },
    ...{ packages: [], files: 0, folders: 0, bytes: 0, createdAtMs: 0 },
    ...more,
  };
}

describe("chooseParts", () => {
  const parts = (requested: readonly string[], ...sets: readonly PackageSetRecord[]): unknown => {
    const { kept, missing } = chooseParts(recordOf(requested), sets);
    return [kept.map((set) => set.requested.join()), missing];
  };

  it("takes those with most of the list, and none that adds nothing", () => {
    expect(parts(["a", "b", "c"], recordOf(["a"]), recordOf(["b"]), recordOf(["a", "b"]))).toEqual([["a,b"], ["c"]]);
    expect(parts(["a", "b"], recordOf(["b"]), recordOf(["a"]))).toEqual([["b", "a"], []]);
    expect(parts(["a", "b"])).toEqual([[], ["a", "b"]]);
  });

  it("takes none that has what was not asked for, or another version, or comes from elsewhere", () => {
    const { origin } = recordOf([]);
    for (const other of [
      recordOf(["a", "evil"]),
      recordOf(["a@1"]),
      recordOf(["a"], { ecosystem: "python" }),
      recordOf(["a"], { manager: "npm" }),
      recordOf(["a"], { manager: "project/npm" }),
      recordOf(["a"], { platform: "other" }),
      recordOf(["a"], { origin: { ...origin, principal: "bob" } }),
      recordOf(["a"], { origin: { ...origin, principal: null } }),
      recordOf(["a"], { origin: { ...origin, image: "sha256:2" } }),
      recordOf(["a"], { origin: { ...origin, engine: "podman" } }),
      recordOf(["a"], { origin: { ...origin, onHost: true } }),
    ])
      expect(parts(["a", "b"], other)).toEqual([[], ["a", "b"]]);
  });
});

describe("composeSet", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), "glovebox-compose-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  type Files = Readonly<Record<string, string>>;

  async function setOf(versions: Files, files: Files): Promise<{ folder: string; record: PackageSetRecord }> {
    const folder = await mkdtemp(path.join(root, "set-"));
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.join(folder, path.dirname(name)), { recursive: true });
      await writeFile(path.join(folder, name), text, { mode: 0o444 });
    }
    const packages = Object.entries(versions).map(([name, version]) => ({ name, version }));
    return { folder, record: recordOf([], { packages }) };
  }

  async function compose(
    ecosystem: Ecosystem,
    sets: readonly { folder: string; record: PackageSetRecord }[],
    limits = { maxEntries: 100, maxDepth: 8, maxBytes: 1_000_000 },
  ) {
    const folder = await mkdtemp(path.join(root, "composed-"));
    return { folder, made: await composeSet(folder, sets, { ecosystem, ...limits }) };
  }

  it("has the files of all, by links, and what they share once", async () => {
    const shared = { "@s/c/x.js": "c", "@s/c/node_modules/d/x.js": "d" };
    const a = await setOf({ a: "1", "@s/c": "1" }, { ...shared, "a/x.js": "a", ".package-lock.json": "of a" });
    const b = await setOf({ b: "1", "@s/c": "1" }, { ...shared, "b/x.js": "b", ".package-lock.json": "of b" });
    const { folder, made } = await compose("npm", [a, b]);
    expect(made).toMatchObject({
      packages: [
        { name: "@s/c", version: "1" },
        { name: "a", version: "1" },
        { name: "b", version: "1" },
      ],
      ...{ files: 5, folders: 6, bytes: 11 * 4096 },
    });
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith("x.js"))).toHaveLength(4);
    expect((await stat(path.join(folder, "b/x.js"))).ino).toBe((await stat(path.join(b.folder, "b/x.js"))).ino);
    expect((await stat(path.join(folder, "b"))).mode & 0o777).toBe(0o755);
  });

  it("leads Python to the packages of all, and takes a package's own record of its installation from either", async () => {
    const sharedOf = (record: string): Files => ({ "lib/n/n.py": "n", "lib/N-1.dist-info/RECORD": record });
    const a = await setOf({ N: "1" }, { ...sharedOf("requested"), "lib/N-1.dist-info/REQUESTED": "" });
    const b = await setOf({ n: "1", p: "1" }, { ...sharedOf("came along"), "lib/p/p.py": "p" });
    const { folder, made } = await compose("python", [a, b]);
    expect(made?.packages).toHaveLength(2);
    expect((await readdir(path.join(folder, "lib"))).toSorted()).toEqual(["N-1.dist-info", "n", "p"]);
    expect(await readdir(path.join(folder, "start"))).toEqual(["sitecustomize.py"]);
  });

  it("is not made of what does not go together: two versions, another file of a name, or a folder of a file's name", async () => {
    const a = await setOf({ a: "1", c: "1" }, { "a/x.js": "a", "c/x.js": "one" });
    for (const [versions, files] of [
      [{ c: "2" }, {}],
      [{ evil: "1" }, { "c/x.js": "two" }],
      [{ evil: "1" }, { "c/x.js/deeper.js": "" }],
      [{ evil: "1" }, { c: "a file" }],
    ] as const)
      expect((await compose("npm", [a, await setOf(versions, files)])).made).toBeNull();
    const wheel = await setOf({ n: "1" }, { "lib/n/__pycache__/n.pyc": "true" });
    const evil = await setOf({ evil: "1" }, { "lib/n/__pycache__/n.pyc": "evil", "start/sitecustomize.py": "planted" });
    expect((await compose("python", [wheel, evil])).made).toBeNull();
    const { folder, made } = await compose("python", [evil]);
    expect(made).not.toBeNull();
    expect(await readFile(path.join(folder, "start/sitecustomize.py"), "utf8")).not.toContain("planted");
  });

  it("is within the limits of one installation", async () => {
    const sets = [await setOf({ a: "1" }, { "a/x.js": "a" }), await setOf({ b: "1" }, { "b/x.js": "b" })];
    const limits = { maxEntries: 4, maxDepth: 2, maxBytes: 4 * 4096 };
    expect((await compose("npm", sets, limits)).made).not.toBeNull();
    for (const less of [{ maxEntries: 3 }, { maxDepth: 1 }, { maxBytes: 3 * 4096 }])
      expect((await compose("npm", sets, { ...limits, ...less })).made).toBeNull();
  });
});
