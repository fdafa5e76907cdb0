import { createHash } from "node:crypto";
import { lstat, rmdir, unlink } from "node:fs/promises";
import { errorCode, GloveboxError, toGloveboxError } from "../../errors/glovebox-error.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { HostFolder, isGone } from "../../base/host-folder.ts";
import { readHostTree } from "../../sandbox/copy/read-host-tree.ts";
import { safeNames } from "../../sandbox/copy/safe-path.ts";
import { TreeWriter } from "../../sandbox/copy/tree-writer.ts";
import type { NewTreeEntry, TreeEntry, TreeFile } from "../../sandbox/files/file-way.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import type { HostMount } from "../run/host-mount.ts";

/** Of all folders of a run together, on each way. */
const maxEntries = 100_000;
/** How long it may take to bring the changes back, whatever has become of the caller. */
const backMs = 600_000;

export interface FoldersToCopy {
  readonly mounts: readonly HostMount[];
  readonly files: Pick<SandboxFiles, "write" | "writeTree" | "readTree">;
  /** Paths inside that must stay as they are on this machine: those of `OwnerTooling.locks`. */
  readonly locks: readonly { readonly target: string; readonly readOnly: boolean }[];
  /** Of what goes in, and of what comes back. */
  readonly maxBytes: number;
  readonly platform: NodeJS.Platform;
  /** User id of this process; null if the system has none. */
  readonly uid: number | null;
  readonly signal: AbortSignal | undefined;
}

/** An entry as it went in: what is in it, and by which it is seen whether somebody has changed it on this machine since. */
interface Sent {
  readonly state: string;
  readonly isFolder: boolean;
  readonly modifiedAtMs: number;
}

interface CopiedFolder {
  readonly mount: HostMount;
  readonly sent: ReadonlyMap<string, Sent>;
}

/**
 * The folders of one run, copied into its sandbox, where an engine mounts none (SPEC SO3). What the agent has changed comes back once
 * it has ended: what it left alone is not touched, and what was changed on this machine meanwhile stays.
 */
export class CopiedFolders {
  readonly #options: FoldersToCopy;
  readonly #folders: readonly CopiedFolder[];

  /** @throws POLICY_DENIED for more than fits, UNSUPPORTED for a single file that may be changed */
  static async send(options: FoldersToCopy): Promise<CopiedFolders> {
    const { mounts, files, platform, signal } = options;
    const budget = new CopyBudget({ maxBytes: options.maxBytes, maxEntries });
    const folders: CopiedFolder[] = [];
    for (const mount of mounts) {
      if (mount.place.kind === "file") {
        await sendFile(mount, options);
        continue;
      }
      const sent = new Map<string, Sent>();
      await using folder = await HostFolder.of(mount.place, platform);
      await files.writeTree(mount.target, noted(readHostTree(folder, budget), sent), { signal });
      if (!mount.readOnly) folders.push({ mount, sent });
    }
    return new CopiedFolders(options, folders);
  }

  private constructor(options: FoldersToCopy, folders: readonly CopiedFolder[]) {
    this.#options = options;
    this.#folders = folders;
  }

  /**
   * Writes what the agent has changed to the folders of this machine; resolves to what was left out. Nothing of a folder is changed
   * before all of its copy has been looked at.
   * @throws SANDBOX_LOST saying what did not come back
   */
  async bringBack(): Promise<readonly string[]> {
    const signal = AbortSignal.timeout(backMs);
    const budget = new CopyBudget({ maxBytes: this.#options.maxBytes, maxEntries });
    for (const folder of this.#folders) {
      await this.#bring(folder, budget, signal).catch((error: unknown) => {
        throw notBrought(folder.mount.shownAs, error);
      });
    }
    return budget.warnings;
  }

  async #bring({ mount, sent }: CopiedFolder, budget: CopyBudget, signal: AbortSignal): Promise<void> {
    const { files, platform, uid, maxBytes } = this.#options;
    const found = await foundBelow(files.readTree(mount.target, { signal }), maxBytes);
    const changed = new Set<string>();
    for (const [path, { state, linkOf }] of found) {
      // Nothing is looked at by a name that leads elsewhere.
      if (safeNames(path, platform).length === 0 || state === sent.get(path)?.state) continue;
      changed.add(path);
      if (linkOf !== undefined) changed.add(linkOf);
    }
    // Where a folder has become something else, it goes first.
    const gone = [...sent].filter(([path, { isFolder }]) => found.get(path)?.isFolder !== isFolder);
    if (changed.size + gone.length === 0) return;
    await using root = await HostFolder.of(mount.place, platform);
    const isLeft = this.#leaves({ mount, sent }, root, budget);
    for (const [path, { isFolder }] of gone.toSorted(([one], [other]) => depthOf(other) - depthOf(one))) {
      if (!(await isLeft(path))) await removeBelow(root, path, isFolder);
    }
    if (changed.size === 0) return;
    const owner = uid === 0 ? mount.place.owner : undefined;
    await using writer = new TreeWriter(root, { budget, platform, owner, exactModes: true });
    for await (const entry of files.readTree(mount.target, { signal })) {
      if (changed.has(entry.path) && !(await isLeft(entry.path))) await writer.write(entry, []);
    }
  }

  /** Whether a path is left as it is on this machine, which is noted then. */
  #leaves({ mount, sent }: CopiedFolder, root: HostFolder, budget: CopyBudget): (path: string) => Promise<boolean> {
    const { locks, platform } = this.#options;
    const folded = (path: string): string => (platform === "linux" ? path : path.normalize("NFC").toLowerCase());
    const own = locks
      .filter(({ target }) => target.startsWith(`${mount.target}/`))
      .map(({ target, readOnly }) => ({ path: folded(target.slice(mount.target.length + 1)), readOnly }));
    const settled = new Set<string>();
    return async (path) => {
      const name = folded(path);
      if (own.some((lock) => name === lock.path || (lock.readOnly && name.startsWith(`${lock.path}/`)))) {
        budget.skip(path, "locked on this machine");
        return true;
      }
      if (settled.has(path)) return false;
      const before = sent.get(path);
      const now = await lookBelow(root, path);
      const isSame =
        now === null ||
        (before?.isFolder === now.isFolder && (now.isFolder || before.modifiedAtMs === now.modifiedAtMs));
      if (isSame) settled.add(path);
      else budget.skip(path, "changed on this machine while the agent worked");
      return !isSame;
    };
  }
}

async function sendFile({ place, target, readOnly, shownAs }: HostMount, options: FoldersToCopy): Promise<void> {
  if (!readOnly) {
    throw new GloveboxError(
      "UNSUPPORTED",
      `${shownAs}: This engine works on copies, of which no single file comes back.`,
      {
        suggestion: "Ask for the file read-only, or for the folder that it is in.",
        context: { missing: "hostPaths" },
      },
    );
  }
  const bytes = await place.readFile(options.maxBytes);
  if (bytes === null) throw new GloveboxError("POLICY_DENIED", `${shownAs}: The file does not fit into the sandbox.`);
  await options.files.write(target, bytes, { signal: options.signal });
}

/** The same entries; what went in is noted as it goes. */
async function* noted(
  entries: AsyncIterable<NewTreeEntry>,
  sent: Map<string, Sent>,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  for await (const entry of entries) {
    const { path, kind, modifiedAtMs } = entry;
    const isFolder = kind === "folder";
    const note = (state: string): void => void sent.set(path, { state, isFolder, modifiedAtMs });
    if (entry.kind !== "file") {
      note(stateOf(entry));
      yield entry;
      continue;
    }
    const hash = createHash("sha256");
    yield { ...entry, chunks: hashed(entry.chunks, hash) };
    note(fileState(entry, hash.digest("base64")));
  }
}

interface Found {
  readonly state: string;
  readonly isFolder: boolean;
  /** The path of which this is another name. */
  readonly linkOf?: string;
}

/** All that lies below a folder of a sandbox; its programs may have made as much of it as fits. */
async function foundBelow(tree: AsyncIterable<TreeEntry>, maxBytes: number): Promise<ReadonlyMap<string, Found>> {
  // What went in is there too.
  const budget = new CopyBudget({ maxBytes: 2 * maxBytes, maxEntries: 2 * maxEntries });
  const found = new Map<string, Found>();
  for await (const entry of tree) {
    budget.take(entry.kind === "file" ? entry.sizeBytes : 0);
    const isFolder = entry.kind === "folder";
    if (entry.kind === "hard-link") {
      const { target } = entry;
      found.set(entry.path, { isFolder, state: found.get(target)?.state ?? "", linkOf: target });
    } else if (entry.kind === "file") {
      const hash = createHash("sha256");
      for await (const chunk of entry.chunks) {
        budget.arrive(chunk.length);
        hash.update(chunk);
      }
      found.set(entry.path, { isFolder, state: fileState(entry, hash.digest("base64")) });
    } else found.set(entry.path, { isFolder, state: stateOf(entry) });
  }
  return found;
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Of permissions only whether a file is a program, as git does: others depend on who unpacks it. */
function fileState({ mode }: Pick<TreeFile, "mode">, digest: string): string {
  return `file ${(mode & 0o100) !== 0} ${digest}`;
}

function stateOf(entry: Exclude<TreeEntry, TreeFile>): string {
  return entry.kind === "link" ? `link ${entry.target}` : entry.kind;
}

function depthOf(path: string): number {
  return path.split("/").length;
}

/** What is at a path on this machine, of which no link is followed; null: nothing. */
async function lookBelow(
  root: HostFolder,
  path: string,
): Promise<{ readonly isFolder: boolean; readonly modifiedAtMs: number } | null> {
  return inParent(root, path, async (place) => {
    const stat = await lstat(place);
    return { isFolder: stat.isDirectory(), modifiedAtMs: Math.floor(stat.mtimeMs) };
  });
}

async function removeBelow(root: HostFolder, path: string, isFolder: boolean): Promise<void> {
  await inParent(root, path, async (place) => {
    if (!isFolder) return unlink(place);
    await rmdir(place).catch((error: unknown) => {
      // Something was put there meanwhile, or is locked in it.
      if (errorCode(error) !== "ENOTEMPTY" && errorCode(error) !== "EEXIST") throw error;
    });
  });
}

async function inParent<T>(root: HostFolder, path: string, work: (place: string) => Promise<T>): Promise<T | null> {
  const names = path.split("/");
  try {
    await using folder = await root.descend(names.slice(0, -1));
    return await work(folder.at(names.at(-1) ?? ""));
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function notBrought(shownAs: string, cause: unknown): GloveboxError {
  const { message } = toGloveboxError(cause);
  return new GloveboxError("SANDBOX_LOST", `${shownAs}: Not all that the agent changed came back: ${message}`, {
    suggestion: "Look at what is in the folder, and run the agent again.",
    context: { folder: shownAs, retryable: false },
    cause,
  });
}
