import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import { CopyBudget } from "../../src/sandbox/copy/copy-budget.ts";
import { HostFolder } from "../../src/base/host-folder.ts";
import { readHostTree } from "../../src/sandbox/copy/read-host-tree.ts";
import { ignoringFilter } from "../../src/workloads/project/copy-project.ts";
import { git } from "./git.ts";

/** What a project's copy would have. */
interface Copied {
  /** Everything but folders. */
  readonly names: readonly string[];
  readonly leftOut: readonly string[];
  readonly unknown: readonly string[];
}

/** A project for each test, in a folder of its own. */
export class CopiedProject {
  #folder = "";

  /** To be called once, where tests are defined. */
  static use(): CopiedProject {
    const project = new CopiedProject();
    beforeEach(() => {
      project.#folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
      mkdirSync(project.path);
    });
    afterEach(() => rmSync(project.#folder, { recursive: true, maxRetries: 5 }));
    return project;
  }

  /** The folder that has the project's. */
  get outside(): string {
    return this.#folder;
  }

  get path(): string {
    return path.join(this.#folder, "project");
  }

  at(...names: readonly string[]): string {
    return path.join(this.path, ...names);
  }

  put(name: string, text: string | Uint8Array = "x", below: string = this.path): void {
    mkdirSync(path.dirname(path.join(below, name)), { recursive: true });
    writeFileSync(path.join(below, name), text);
  }

  putAll(...names: readonly string[]): void {
    for (const name of names) this.put(name);
  }

  git(...words: readonly string[]): string {
    return git(this.path, ...words);
  }

  /** A repository with files that a rule ignores, of which git tracks some. */
  makeRepository(...words: readonly string[]): void {
    this.git("init", "--quiet", ...words);
    this.put(".gitignore", "build/\n*.log\nenv\n/deep/*\n");
    this.putAll("a.js", "a.log", "build/tracked.js", "build/made.js", "build/deep/tracked.js", "env/x/tracked");
    this.putAll("env/x/made", "deep/a/b/tracked", "deep/a/made", "src/ä/ö.log", "src/other.log", longName);
    this.git("add", ".gitignore", "a.js");
    this.git("add", "--force", "build/tracked.js", "build/deep/tracked.js", "env/x/tracked", "deep/a/b/tracked");
    this.git("add", "--force", "src/ä/ö.log", "long");
  }

  async copy(place: string = this.path): Promise<Copied> {
    await using root = await HostFolder.open(place, process.platform);
    const [names, leftOut, unknown]: [string[], string[], string[]] = [[], [], []];
    const filter = ignoringFilter({
      onLeftOut: (name) => void leftOut.push(name),
      onUnknown: (sentence) => void unknown.push(sentence),
    });
    for await (const entry of readHostTree(root, new CopyBudget({}), { filter })) {
      if (entry.kind !== "folder") names.push(entry.path);
    }
    return { names, leftOut, unknown };
  }
}

const longName = `long/${"n".repeat(200)}/x.log`;

/** What a copy of `makeRepository` has. */
export const takenOfRepository: readonly string[] = [
  ...[".gitignore", "a.js", "build/deep/tracked.js", "build/tracked.js", "deep/a/b/tracked", "env/x/tracked"],
  ...[longName, "src/ä/ö.log"],
];
