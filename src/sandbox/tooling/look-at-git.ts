import { gitConfigPaths } from "../../policy/tooling/git-config-paths.ts";
import { gitIndexLinks } from "../../policy/tooling/git-index-links.ts";
import { pathInside } from "../../policy/tooling/path-inside.ts";
import type { ProjectLook } from "./project-look.ts";

/** Of a git folder what decides which programs git runs; hooks are a folder. */
const gitFiles = ["config", "config.worktree", "hooks", "commondir", "gitdir", "rebase-merge/git-rebase-todo"];

/** More than a person's files have: larger ones are not read, only their state is noted. */
const maxBytes = { pointer: 4_096, config: 65_536, index: 16 * 1024 * 1024 } as const;

/** How many git folders are looked at, and how deep names of submodules may be. */
const max = { folders: 128, moduleDepth: 6, modules: 512 } as const;

/**
 * Notes what decides which programs git runs in a project: of its own git folder, wherever in the project that is, and
 * of the repositories in it that `git status` enters too.
 */
export async function lookAtGit(look: ProjectLook, root: string): Promise<void> {
  await new GitLook(look, root).workTree("");
}

class GitLook {
  readonly #look: ProjectLook;
  readonly #root: string;
  readonly #seen = new Set<string>();
  #entered = 0;

  /** `root` is the real path of the project, which pointers may name. */
  constructor(look: ProjectLook, root: string) {
    this.#look = look;
    this.#root = root;
  }

  async workTree(folder: string): Promise<void> {
    const place = below(folder, ".git");
    const kind = await this.#look.noteAlone(place);
    const named = kind === "file" ? /^gitdir: (.*)$/m.exec(await this.#text(place, maxBytes.pointer))?.[1] : undefined;
    const gitFolder = kind === "folder" ? place : this.#inside(folder, named ?? "");
    if (gitFolder === null) return;
    await this.#gitFolder(gitFolder, folder);
    for (const link of gitIndexLinks((await this.#look.read(below(gitFolder, "index"), maxBytes.index)) ?? empty)) {
      const inner = this.#inside(folder, link);
      if (inner !== null && !this.#isFull) await this.workTree(inner);
    }
  }

  async #gitFolder(folder: string, workTree: string): Promise<void> {
    if (this.#isFull || this.#seen.has(folder)) return;
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
    if (depth > max.moduleDepth) return;
    for (const name of await this.#look.names(folder)) {
      if ((this.#entered += 1) > max.modules) return;
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
    return this.#seen.size >= max.folders;
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
