import type { ToolingSnapshot, ToolingGap } from "../policy/tooling-changes.ts";
import { toolingNames, toolingPaths } from "../policy/tooling-files.ts";
import type { OpenPlace } from "./mounts/open-place.ts";
import { PathLook } from "./path-look.ts";
import { gitConfigPaths, gitIndexLinks, pathInside, type GitIndexLinks } from "../policy/git-files.ts";

export interface LookAtTooling {
  readonly place: Pick<OpenPlace, "stablePath" | "realPath">;
  readonly platform: NodeJS.Platform;
  /** Paths from the project's root that count in addition to those of the table. */
  readonly morePaths: readonly string[];
}

/** The files through which a project runs code on its owner's machine, as they are at one moment. */
export interface ToolingLook {
  readonly snapshot: ToolingSnapshot;
  /** Whether nothing was left out. */
  readonly isWhole: boolean;
  /** Why something was, without duplicates. */
  readonly gaps: readonly ToolingGap[];
}

/** Looks at them (SPEC MO2). Null when the project cannot be read: it was moved away, or a program took the right to. */
export async function lookAtTooling({ place, platform, morePaths }: LookAtTooling): Promise<ToolingLook | null> {
  try {
    const look = await PathLook.open(place, platform);
    try {
      await noteTooling(look, place.realPath, morePaths);
      return { snapshot: look.snapshot, isWhole: look.gaps.length === 0, gaps: look.gaps };
    } finally {
      await look.close();
    }
  } catch {
    return null;
  }
}

/** Notes all of them. `root` is the real path of the project, which git's files may name. */
export async function noteTooling(look: PathLook, root: string, morePaths: readonly string[]): Promise<void> {
  const git = new GitLook(look, root);
  // Git first and the search last: nothing that a program puts elsewhere can use up the time for what is known.
  await git.known();
  const named = toolingNames(await look.names("."));
  await Promise.all([...toolingPaths(morePaths), ...named].map((path) => look.note(path)));
  await git.search();
}

/** Of a git folder what decides which programs git runs; hooks are a folder. */
const gitFiles = ["config", "config.worktree", "hooks", "commondir", "gitdir", "rebase-merge/git-rebase-todo"];

/** More than a person's files have: larger ones are not read, only their state is noted. */
const maxBytes = { pointer: 4_096, config: 65_536, index: 16 * 1024 * 1024 } as const;

/** How many git folders are looked at, and how deep names of submodules may be. */
const max = { folders: 128, moduleDepth: 6, modules: 512 } as const;

/** Folders that are searched for repositories, and by whom no tool of the owner looks for one. */
const maxSearched = 1_024;
const maxDepth = 32;
const searchedAtOnce = 32;
const unsearched: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * What decides which programs git runs in a project: of its own git folder, wherever in the project that is, and of the
 * repositories in it.
 */
class GitLook {
  readonly #look: PathLook;
  readonly #root: string;
  readonly #trees = new Set<string>();
  readonly #seen = new Set<string>();
  #entered = 0;

  /** `root` is the real path of the project, which pointers may name. */
  constructor(look: PathLook, root: string) {
    this.#look = look;
    this.#root = root;
  }

  /** Notes the project's own, and those that `git status` enters too. */
  async known(): Promise<void> {
    await this.#bare("");
    await this.#workTree("");
  }

  /**
   * Notes those that no index lists, which git enters only when it is called in them, as editors do: breadth first, in
   * at most 1,024 folders, 32 deep, and not in `node_modules`.
   */
  async search(): Promise<void> {
    const queue = [""];
    for (let next = 0; next < queue.length;) {
      if (next === maxSearched) return this.#look.leaveOut("search");
      const folders = queue.slice(next, Math.min(next + searchedAtOnce, maxSearched));
      next += folders.length;
      const listed = await Promise.all(folders.map((each) => this.#look.entries(each === "" ? "." : each)));
      for (const [index, folder] of folders.entries()) {
        const entries = listed[index] ?? new Map<string, boolean>();
        if (entries.has(".git")) await this.#workTree(folder);
        if (folder !== "" && this.#isBare((name) => entries.has(name))) await this.#gitFolder(folder, folder);
        if (this.#seen.has(folder)) continue;
        for (const [name, isFolder] of entries) {
          if (!isFolder || unsearched.has(name)) continue;
          if (folder.split("/").length < maxDepth) queue.push(below(folder, name));
          else this.#look.leaveOut("search");
        }
      }
    }
  }

  async #workTree(folder: string): Promise<void> {
    if (this.#trees.has(folder)) return;
    this.#trees.add(folder);
    const place = below(folder, ".git");
    const kind = await this.#look.noteAlone(place);
    const named = kind === "file" ? /^gitdir: (.*)$/m.exec(await this.#text(place, maxBytes.pointer))?.[1] : undefined;
    const gitFolder = kind === "folder" ? place : this.#inside(folder, named ?? "");
    if (gitFolder === null) return;
    await this.#gitFolder(gitFolder, folder);
    for (const link of await this.#links(gitFolder)) {
      const inner = this.#inside(folder, link);
      if (inner !== null && !this.#isFull) await this.#workTree(inner);
    }
  }

  /** Git takes a folder with these names for a repository, without any `.git`. */
  async #bare(folder: string): Promise<void> {
    const names = ["HEAD", "objects", "commondir"];
    const there = new Set<string>();
    for (const name of names) if ((await this.#look.kind(below(folder, name))) !== null) there.add(name);
    if (this.#isBare((name) => there.has(name))) await this.#gitFolder(folder, folder);
  }

  #isBare(has: (name: string) => boolean): boolean {
    return has("HEAD") && (has("objects") || has("commondir"));
  }

  async #links(gitFolder: string): Promise<readonly string[]> {
    const own = await this.#index(gitFolder, "index");
    const shared = await Promise.all(own.sharedIndexes.map((name) => this.#index(gitFolder, name)));
    // What a split index needs and is not there leaves its entries unknown.
    if (shared.some(({ isThere }) => !isThere)) this.#look.leaveOut("form");
    return [own, ...shared].flatMap(({ links }) => links);
  }

  async #index(gitFolder: string, name: string): Promise<GitIndexLinks & { readonly isThere: boolean }> {
    const bytes = await this.#look.read(below(gitFolder, name), maxBytes.index);
    const read = gitIndexLinks(bytes ?? empty);
    if (!read.isWhole) this.#look.leaveOut(read.links.length > 0 ? "repositories" : "form");
    return { ...read, isThere: bytes !== null };
  }

  async #gitFolder(folder: string, workTree: string): Promise<void> {
    if (this.#seen.has(folder) || this.#isFull) return;
    this.#seen.add(folder);
    for (const name of gitFiles) await this.#look.note(below(folder, name));
    for (const name of ["config", "config.worktree"]) await this.#config(folder, name, workTree);
    const common = this.#inside(folder, (await this.#text(below(folder, "commondir"), maxBytes.pointer)).trim());
    if (common !== null) await this.#gitFolder(common, workTree);
    for (const name of await this.#look.names(below(folder, "worktrees"))) {
      for (const file of ["config.worktree", "commondir", "gitdir"])
        await this.#look.note(below(folder, `worktrees/${name}/${file}`));
    }
    await this.#modules(below(folder, "modules"), 0);
  }

  /** Git folders of submodules; a submodule's name may have slashes. */
  async #modules(folder: string, depth: number): Promise<void> {
    const names = await this.#look.names(folder);
    if (names.length > 0 && depth > max.moduleDepth) return this.#look.leaveOut("repositories");
    for (const name of names) {
      if ((this.#entered += 1) > max.modules) return this.#look.leaveOut("repositories");
      const inner = below(folder, name);
      const isGitFolder = (await this.#look.names(inner)).includes("HEAD");
      if (this.#isFull) return;
      await (isGitFolder ? this.#gitFolder(inner, "") : this.#modules(inner, depth + 1));
    }
  }

  async #config(folder: string, name: string, workTree: string): Promise<void> {
    const { hookFolders, includes } = gitConfigPaths(await this.#text(below(folder, name), maxBytes.config));
    const places = [
      ...hookFolders.map((named) => this.#inside(workTree, named)),
      ...includes.map((named) => this.#inside(folder, named)),
    ];
    for (const place of places) if (place !== null) await this.#look.note(place);
  }

  get #isFull(): boolean {
    if (this.#seen.size < max.folders) return false;
    this.#look.leaveOut("repositories");
    return true;
  }

  #inside(folder: string, named: string): string | null {
    return pathInside(this.#root, folder, named);
  }

  async #text(path: string, most: number): Promise<string> {
    return Buffer.from((await this.#look.read(path, most)) ?? empty).toString("utf8");
  }
}

const empty = new Uint8Array();

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
