import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { CopiedProject, takenOfRepository } from "../../../test/helpers/copied-project.ts";
import { git } from "../../../test/helpers/git.ts";
import { namesBelow, workTreeOf } from "./tracked-files.ts";

const project = CopiedProject.use();

/** What git tracks of what is there, and what it does not ignore. */
function gitsOwn(place: string): readonly string[] {
  const listed = git(place, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0");
  const isThere = (name: string): boolean => name !== "" && existsSync(path.join(place, name));
  return [...new Set(listed)].filter(isThere).toSorted();
}

describe("what git tracks is taken though a rule ignores it", () => {
  it.each([2, 3, 4])("with version %i of the index, and what is to be added or skipped", async (version) => {
    project.makeRepository();
    project.putAll("later.log", "skipped.log");
    if (version === 3) project.git("add", "--force", "--intent-to-add", "later.log");
    project.git("add", "--force", "skipped.log");
    if (version === 3) project.git("update-index", "--skip-worktree", "skipped.log");
    project.git("update-index", "--index-version", String(version));
    const marked = version === 3 ? ["later.log", "skipped.log"] : ["skipped.log"];
    expect(await project.copy()).toEqual({
      names: [...takenOfRepository, ...marked].toSorted(),
      leftOut: [],
      unknown: [],
    });
    expect(gitsOwn(project.path)).toEqual([...takenOfRepository, ...marked].toSorted());
  });

  it("with names of SHA-256, and while git merges", async () => {
    project.makeRepository("--object-format=sha256");
    project.git("commit", "--quiet", "-m", "a");
    project.git("checkout", "--quiet", "-b", "other");
    project.put("build/tracked.js", "other");
    project.git("commit", "--quiet", "-am", "b");
    project.git("checkout", "--quiet", "-");
    project.put("build/tracked.js", "own");
    project.git("commit", "--quiet", "-am", "c");
    expect(() => project.git("merge", "other")).toThrow(/CONFLICT|Command failed/);
    expect(project.git("ls-files", "--unmerged")).not.toBe("");
    expect((await project.copy()).names).toEqual(takenOfRepository);
  });

  it("with a split index, of whose shared part some are gone", async () => {
    project.makeRepository();
    for (let at = 0; at < 300; at += 1) project.put(`many/${at}.log`);
    project.git("add", "--force", "many");
    project.git("-c", "splitIndex.maxPercentChange=100", "update-index", "--split-index");
    const gone = Array.from({ length: 100 }, (_, at) => `many/${at * 2}.log`);
    project.git("-c", "splitIndex.maxPercentChange=100", "rm", "--quiet", "--cached", ...gone, "src/ä/ö.log");
    project.put("build/made.js", "changed");
    project.git("-c", "splitIndex.maxPercentChange=100", "add", "--force", "build/made.js");
    expect(project.git("rev-parse", "--shared-index-path")).toMatch(/sharedindex/);
    const { names, unknown } = await project.copy();
    expect(names).toEqual(gitsOwn(project.path));
    expect(names).toContain("build/made.js");
    expect(names).not.toContain("src/ä/ö.log");
    expect(unknown).toEqual([]);
  });

  it("in a sparse checkout, whose index names folders that are not there", async () => {
    project.makeRepository();
    project.putAll("else/where.js");
    project.git("add", "else");
    project.git("commit", "--quiet", "-m", "a");
    project.git("sparse-checkout", "init", "--cone", "--sparse-index");
    project.git("sparse-checkout", "set", "build", "src");
    const { names, unknown } = await project.copy();
    expect(project.git("ls-files", "--sparse")).toMatch(/^else\/$/m);
    expect(names).toEqual(gitsOwn(project.path));
    expect(names).toContain("build/tracked.js");
    expect(unknown).toEqual([]);
  });

  it("and only while it is what git tracks: no folder in a file's place, and no link in a folder's", async () => {
    project.makeRepository();
    rmSync(project.at("build/tracked.js"));
    project.put("build/tracked.js/made.js");
    renameSync(project.at("env/x"), path.join(project.outside, "x"));
    symlinkSync(path.join(project.outside, "x"), project.at("env/x"));
    const { names } = await project.copy();
    expect(names.filter((name) => /^(?:env|build\/tracked)/.test(name))).toEqual([]);
    expect(names).toContain("build/deep/tracked.js");
  });

  it("in folders that tools make anew, of which the rest is named", async () => {
    project.git("init", "--quiet");
    project.put(".gitignore", "*.log\n/ignored/\n");
    project.putAll(
      "fixture/node_modules/dep/index.js",
      "fixture/node_modules/dep/made.js",
      "fixture/node_modules/other/x.js",
    );
    project.putAll(
      "fixture/node_modules/dep/made.log",
      "node_modules/a/b.js",
      "src/__pycache__/x.pyc",
      "ignored/node_modules/x",
    );
    project.git("add", "--force", "fixture/node_modules/dep/index.js");
    expect(await project.copy()).toEqual({
      names: [".gitignore", "fixture/node_modules/dep/index.js"],
      leftOut: ["fixture/node_modules/dep/made.js", "fixture/node_modules/other", "node_modules", "src/__pycache__"],
      unknown: [],
    });
  });

  it("as git itself says, of many trees", { timeout: 60_000 }, async () => {
    let state = 7;
    const pick = <T>(...of: readonly T[]): T => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return of[(state >> 8) % of.length] as T;
    };
    const rules = ["a/", "*.log", "b", "/c/*", "!c/keep", "a/b/**", "**/d", "!d/x.log", "\\#x", "x?"];
    for (let round = 0; round < 12; round += 1) {
      rmSync(project.path, { recursive: true });
      mkdirSync(project.path);
      project.git("init", "--quiet");
      const name = (): string => pick("a", "b", "c", "d", "keep", "x.log", "y.js", "xy", "#x");
      for (let at = 0; at < 40; at += 1) {
        const names = Array.from({ length: pick(1, 2, 3) }, name);
        try {
          project.put(names.join("/"));
        } catch {
          // A file where a folder would be, or the other way round.
        }
      }
      for (const where of ["", pick("a/", "b/", "c/")])
        if (where === "" || !gitsOwn(project.path).includes(where.slice(0, -1)))
          try {
            project.put(`${where}.gitignore`, `${[pick(...rules), pick(...rules), pick(...rules)].join("\n")}\n`);
          } catch {
            // The same.
          }
      const all = project.git("ls-files", "-z", "--others").split("\0").filter(Boolean);
      const tracked = all.filter(() => pick(true, false, false));
      if (tracked.length > 0) project.git("add", "--force", "--", ...tracked.map((each) => `:(literal)${each}`));
      project.git("update-index", "--index-version", String(pick(2, 4)));
      expect((await project.copy()).names.toSorted(), String(round)).toEqual(gitsOwn(project.path));
    }
  });
});

it.each<[NodeJS.Platform, string, string, readonly string[] | null]>([
  ["linux", "/a/b", "/a/b/c/d", ["c", "d"]],
  ["linux", "/a/b", "/a/b", null],
  ["linux", "/a/b", "/a/bc", null],
  ["linux", "/a/b", "/a", null],
  ["linux", "/a", "/a/..b", ["..b"]],
  ["win32", "C:\\a", "C:\\a\\b\\c", ["b", "c"]],
  ["win32", "C:\\a", "D:\\a\\b", null],
  ["win32", "C:\\a", "C:\\ab", null],
])("on %s, the names from %s to %s are %j", (platform, folder, place, names) => {
  expect(namesBelow(folder, place, platform)).toEqual(names);
});

it.each<[NodeJS.Platform, string, string | null]>([
  ["linux", "/a/b/.git/modules/x/.git/y", "/a/b"],
  ["linux", "/a/b/.git", null],
  ["linux", "/.git/modules/x", null],
  ["linux", "/a/b.git/x", null],
  ["win32", "C:\\a\\.git\\modules\\x", "C:\\a"],
])("on %s, %s is in the .git of %j", (platform, place, tree) => {
  expect(workTreeOf(place, platform)).toBe(tree);
});
