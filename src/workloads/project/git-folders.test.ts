import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { CopiedProject, takenOfRepository } from "../../../test/helpers/copied-project.ts";
import { git } from "../../../test/helpers/git.ts";

const project = CopiedProject.use();

describe("where git's folder lies elsewhere", () => {
  const inSubfolder = ["app/build/tracked.js", "app/node_modules/dep/x.js"];
  const unknown = (why: RegExp): readonly unknown[] => [expect.stringMatching(why)];

  it("a project in a folder of a repository", async () => {
    project.git("init", "--quiet");
    project.put(".gitignore", "build/\n");
    project.put("app/.gitignore", "build/\nnode_modules/\n");
    project.putAll(
      ...inSubfolder,
      "app/build/made.js",
      "app/x/y.js",
      "application/build/tracked.js",
      "build/tracked.js",
    );
    project.git("add", "--force", ...inSubfolder, "application", "build");
    expect(await project.copy(project.at("app"))).toEqual({
      names: [".gitignore", "build/tracked.js", "node_modules/dep/x.js", "x/y.js"],
      leftOut: [],
      unknown: [],
    });
    expect((await project.copy(project.at("app/x"))).names).toEqual(["y.js"]);
  });

  it("a project in a folder of a repository, whose rules above leave nothing out but say what is no surprise", async () => {
    project.git("init", "--quiet");
    project.put(".gitignore", "node_modules/\n*.log\n/apps/own/.tox\n");
    project.put("apps/.gitignore", "!own/.tox\n__pycache__\n");
    project.putAll("apps/own/a.log", "apps/own/node_modules/x", "apps/own/src/__pycache__/x", "apps/own/.tox/x");
    expect(await project.copy(project.at("apps/own"))).toEqual({ names: ["a.log"], leftOut: [".tox"], unknown: [] });
  });

  it("a linked work tree, and a folder and a submodule of it", async () => {
    const other = path.join(project.outside, "other");
    mkdirSync(other);
    git(other, "init", "--quiet");
    project.put(".gitignore", "*.log\n", other);
    project.put("tracked.log", "x", other);
    git(other, "add", "--force", ".");
    git(other, "commit", "--quiet", "-m", "a");
    project.makeRepository();
    project.git("submodule", "--quiet", "add", "--force", other, "env/sub");
    project.git("commit", "--quiet", "-m", "a");
    const linked = path.join(project.outside, "linked");
    project.git("worktree", "add", "--quiet", linked);
    git(linked, "submodule", "--quiet", "update", "--init");
    project.put("env/sub/made.log", "x", linked);
    project.put("build/made.js", "x", linked);
    const submodule = ["env/sub/.gitignore", "env/sub/tracked.log"];
    expect(await project.copy(linked)).toEqual({
      names: [...takenOfRepository, ...submodule, ".gitmodules"].toSorted(),
      leftOut: [],
      unknown: [],
    });
    expect((await project.copy(path.join(linked, "build"))).names).toEqual([
      "deep/tracked.js",
      "made.js",
      "tracked.js",
    ]);
    expect((await project.copy()).names).toEqual([...takenOfRepository, ...submodule, ".gitmodules"].toSorted());
    // A submodule as the project: its git folder is in that of the repository around it.
    project.put("made.log", "x", project.at("env/sub"));
    expect(await project.copy(project.at("env/sub"))).toEqual({
      names: [".gitignore", "tracked.log"],
      leftOut: [],
      unknown: [],
    });
  });

  it("repositories side by side in a folder that is none", async () => {
    for (const name of ["one", "two"]) {
      project.putAll(`${name}/build/tracked.js`, `${name}/build/made.js`);
      project.put(`${name}/.gitignore`, "build/\n");
      git(project.at(name), "init", "--quiet");
      git(project.at(name), "add", "--force", "build/tracked.js");
    }
    const { names } = await project.copy();
    expect(names.filter((name) => name.endsWith(".js"))).toEqual(["one/build/tracked.js", "two/build/tracked.js"]);
  });

  it.each<[string, () => void]>([
    [
      "a file that leads to a repository elsewhere",
      () => project.put(".git", `gitdir: ${project.outside}/other/.git\n`),
    ],
    ["a file that leads there by names alone", () => project.put(".git", "gitdir: ../other/.git\n")],
    [
      "a file that leads to a work tree of another project",
      () => project.put(".git", `gitdir: ${project.outside}/planted/worktrees/x`),
    ],
    [
      "a file that leads to a module of one elsewhere",
      () => project.put(".git", `gitdir: ${project.outside}/other/.git/modules/x\n`),
    ],
    ["a link", () => symlinkSync(path.join(project.outside, "other/.git"), project.at(".git"))],
    [
      "a file that leads to a link in the project",
      () => {
        symlinkSync(path.join(project.outside, "other/.git"), project.at("inside"));
        project.put(".git", "gitdir: inside\n");
      },
    ],
    ["a FIFO", () => execFileSync("mkfifo", [project.at(".git")])],
  ])("is not read where .git is %s", async (_, plant) => {
    const other = path.join(project.outside, "other");
    mkdirSync(other);
    git(other, "init", "--quiet");
    project.put("secret", "x", other);
    git(other, "add", "secret");
    mkdirSync(path.join(project.outside, "planted/worktrees"), { recursive: true });
    execFileSync("cp", ["-R", path.join(other, ".git"), path.join(project.outside, "planted/worktrees/x")]);
    mkdirSync(path.join(other, ".git/modules"));
    execFileSync("cp", ["-R", path.join(project.outside, "planted/worktrees/x"), path.join(other, ".git/modules/x")]);
    project.put("planted/worktrees/x/gitdir", `${other}/.git\n`, project.outside);
    project.put(".gitignore", "secret\n");
    project.putAll("a", "secret");
    plant();
    const copied = await project.copy();
    expect(copied.names.filter((name) => name !== "inside")).toEqual([".gitignore", "a"]);
    expect(copied.unknown).toEqual(
      unknown(/^".git" (?:leads out of the project|is neither a folder nor a plain file)/),
    );
  });

  it("is not taken for one above the project where git has no HEAD in it", async () => {
    project.put(".gitignore", "secret\n");
    project.putAll("app/secret");
    project.put("app/.gitignore", "secret\n");
    project.put("app/.git/index");
    project.git("init", "--quiet");
    project.git("add", "--force", "app/secret");
    expect((await project.copy(project.at("app"))).names).toEqual([".gitignore", "secret"]);
    rmSync(project.at(".git/HEAD"));
    expect((await project.copy(project.at("app"))).names).toEqual([".gitignore"]);
  });

  it.skipIf(process.getuid?.() !== 0)("is not read where another user made it above the project", async () => {
    project.put("app/.gitignore", "secret\n");
    project.putAll("app/secret");
    project.git("init", "--quiet");
    project.git("add", "--force", "app/secret");
    expect((await project.copy(project.at("app"))).names).toEqual([".gitignore", "secret"]);
    chownSync(project.at(".git"), 12_345, 12_345);
    expect((await project.copy(project.at("app"))).names).toEqual([".gitignore"]);
  });

  it.each<[string, RegExp, () => void]>([
    ["a link", /is not readable/, () => renameIndex((to) => symlinkSync(to, project.at(".git/index")))],
    ["a FIFO", /is not readable/, () => renameIndex(() => execFileSync("mkfifo", [project.at(".git/index")]))],
    ["too large", /32 MiB/, () => truncateSync(project.at(".git/index"), 33 * 1024 * 1024)],
    ["of an unknown form", /not understood/, () => project.put(".git/index", "DIRC\0\0\0\u0009\0\0\0\0")],
    ["cut off", /not understood/, () => truncateSync(project.at(".git/index"), 200)],
  ])("says so where the index is %s", async (_, why, spoil) => {
    project.makeRepository();
    spoil();
    const copied = await project.copy();
    expect(copied.unknown).toEqual(unknown(why));
    expect(copied.names).toEqual([".gitignore", "a.js"]);
  });

  function renameIndex(instead: (renamed: string) => void): void {
    const renamed = project.at(".git/renamed");
    renameSync(project.at(".git/index"), renamed);
    instead(renamed);
  }

  it("reads at most 64 repositories of a project", async () => {
    project.makeRepository();
    for (let at = 0; at < 66; at += 1) project.put(`sub${at}/.git/HEAD`);
    expect((await project.copy()).unknown).toHaveLength(3);
  });
});
