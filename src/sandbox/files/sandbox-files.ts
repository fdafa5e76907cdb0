import { GloveboxError } from "../../errors/glovebox-error.ts";
import { assertRunsAnyProgram, runsInterpretersOnly, type Capabilities } from "../../engines/capabilities.ts";
import type { CallOptions, Container } from "../../engines/engine.ts";
import type { FileListing, NewTreeEntry, SizedContent, TreeEntry, UnsizedContent } from "./file-facts.ts";
import type {
  BatchFile,
  BatchRequest,
  FileContent,
  FileWay,
  FoundEntries,
  ListOptions,
  PackRequest,
  ReadOptions,
  WriteOptions,
} from "./file-way.ts";
import { HostFiles } from "./host/host-files.ts";
import type { HostPlaces } from "./host/host-place.ts";
import { InsideFiles } from "./inside-files.ts";
import { treeLimits } from "./move-bounds.ts";
import type { TreeChanges } from "./tree-changes.ts";

const defaultEntries = 10_000;

/**
 * Files of a sandbox: the one way in and out for reading, writing, listing and copying. Paths are absolute paths inside.
 *
 * All throw NOT_FOUND, PERMISSION_DENIED, INVALID_REQUEST (a folder instead of a file, a FIFO, a device, an invalid
 * path), UNSUPPORTED if only interpreters can run and its folders are not accessible, POLICY_DENIED, TIMEOUT, CANCELLED and
 * SANDBOX_LOST.
 */
export class SandboxFiles {
  readonly #way: FileWay;

  /** `places`: the folders of a sandbox in which no program of ours can run. */
  constructor(
    container: Pick<Container, "files">,
    capabilities: Pick<Capabilities, "programs" | "isolation">,
    places: HostPlaces | null = null,
  ) {
    const isOnHost = places !== null && runsInterpretersOnly(capabilities);
    this.#way = isOnHost ? new HostFiles(places) : wayInto(container, capabilities);
  }

  /** Lists a folder; links are shown, not followed. */
  async list(path: string, { depth = 1, maxEntries = defaultEntries, signal }: ListOptions = {}): Promise<FileListing> {
    checkWhole("depth", depth, 1);
    checkWhole("maxEntries", maxEntries, 1);
    return this.#way.list(path, { depth, maxEntries, signal });
  }

  /** Opens a file, following links if they are resolved inside the sandbox. */
  async read(path: string, { offsetBytes = 0, maxBytes = -1, signal }: ReadOptions = {}): Promise<FileContent> {
    checkWhole("offset", offsetBytes, 0);
    checkWhole("maxBytes", maxBytes, -1);
    return this.#way.read(path, { offsetBytes, maxBytes, signal });
  }

  /**
   * What is below a folder, by kind. What does not fit, or cannot be reached in time, is missing.
   */
  findEntries(folder: string, options: CallOptions = {}): Promise<FoundEntries> {
    return this.#way.findEntries(folder, options);
  }

  /** Many small files at once. */
  readBatch(folder: string, request: BatchRequest): Promise<readonly BatchFile[]> {
    return this.#way.readBatch(folder, request);
  }

  /**
   * Creates or replaces a file; missing folders are created. The change is atomic: until all of it is there, or if
   * anything fails, the old file stays. @throws POLICY_DENIED if it does not fit, INVALID_REQUEST if the content does
   * not have the declared size
   */
  async write(
    path: string,
    content: Uint8Array | SizedContent | UnsizedContent,
    options: WriteOptions = {},
  ): Promise<void> {
    const { sizeBytes, chunks } = ArrayBuffer.isView(content) ? inOnePiece(content) : content;
    if (sizeBytes === null) return this.#way.write(path, { sizeBytes: treeLimits.maxBytes, chunks }, options);
    await this.#way.write(path, { sizeBytes, chunks: exactly(path, sizeBytes, chunks) }, options);
  }

  /**
   * A file, or a folder with everything below it; links as links. The reader must limit how much it takes, and may stop
   * early.
   * @throws at its end when a part could not be read
   */
  async *readTree(path: string, options: CallOptions = {}): AsyncGenerator<TreeEntry, void, undefined> {
    yield* this.#way.readTree(path, options);
  }

  /**
   * Puts entries into a folder, which is created if missing. Existing files are replaced; after a failure, what was
   * already written stays. @throws POLICY_DENIED when it does not fit
   */
  async writeTree(
    path: string,
    entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
    options: CallOptions = {},
  ): Promise<void> {
    await this.#way.writeTree(path, entries, options);
  }

  /**
   * Updates a tree, even while programs work on it: each file is renamed into place, which watchers see as one change.
   * After a failure, what was already done stays. @throws POLICY_DENIED when it does not fit, UNSUPPORTED where no
   * program of ours can run
   */
  async update(folder: string, changes: TreeChanges, options: CallOptions = {}): Promise<void> {
    await this.#way.update(folder, changes, options);
  }

  /**
   * Everything in a folder, as bytes that only `unpack` of a sandbox reads: names of any bytes, modes and, where the
   * sandbox can have them, links and FIFOs. At most 1,000,000 entries, 255 folders in folders, and ten minutes.
   * @throws at its end when a part could not be read, POLICY_DENIED for more than that, TIMEOUT
   */
  async *pack(folder: string, request: PackRequest): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#way.pack(folder, request);
  }

  /**
   * Restores what `pack` has read into an existing folder, in this sandbox or another one, within the same bounds; what
   * stands in its way there goes.
   * @throws POLICY_DENIED when it does not fit
   */
  async unpack(folder: string, archive: AsyncIterable<Uint8Array>, options: CallOptions = {}): Promise<void> {
    await this.#way.unpack(folder, archive, options);
  }
}

function wayInto(
  container: Pick<Container, "files">,
  capabilities: Pick<Capabilities, "programs" | "isolation">,
): FileWay {
  return new InsideFiles((folder) => {
    assertRunsAnyProgram(capabilities, "that would move files");
    if (container.files !== undefined) return container.files(folder);
    throw new GloveboxError("UNSUPPORTED", "Nothing moves files in this sandbox.");
  });
}

function inOnePiece(content: Uint8Array): SizedContent {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return { sizeBytes: content.length, chunks: chunks() };
}

/** The content; fails if its size differs from the declared one. The last piece is held back until that is known. */
async function* exactly(
  path: string,
  sizeBytes: number,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let count = 0;
  let held: Uint8Array | undefined;
  for await (const chunk of chunks) {
    count += chunk.length;
    if (count > sizeBytes) break;
    if (held !== undefined) yield held;
    held = chunk;
  }
  if (count === sizeBytes) {
    if (held !== undefined) yield held;
    return;
  }
  throw new GloveboxError("INVALID_REQUEST", `The content of ${JSON.stringify(path)} is not of ${sizeBytes} bytes.`, {
    suggestion: "Do not change the file while it is sent, or send it again.",
    context: { path, size_bytes: sizeBytes },
  });
}

function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new GloveboxError("INVALID_REQUEST", `The ${name} must be a whole number from ${least}; it is ${value}.`);
}
