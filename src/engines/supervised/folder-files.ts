import {
  pathError,
  type FileKind,
  type FileRecord,
  type ContainerFiles,
  type FileContent,
  type FileLimits,
  type FolderListing,
  type ListLimits,
  type OpenedFile,
  type ReadLimits,
  type UnpackLimits,
  type WriteLimits,
  type FileProblem,
} from "../container-files.ts";
import { frameLimits } from "./frames/frame-table.ts";
import { ProtocolError } from "./frames/frame.ts";
import { pipeline } from "node:stream/promises";
import { cancelled, throwIfCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { SupervisorChannel } from "./channel/channel.ts";
import type { FileOperation, FileRequest } from "./channel/file-operation.ts";
import type { StreamEnd } from "./channel/stream.ts";
import { errnoName, errnoText, type LinuxErrno } from "./frames/linux-errno.ts";

const kinds: Readonly<Record<string, FileKind>> = {
  f: "file",
  d: "folder",
  l: "link",
  p: "fifo",
  s: "socket",
  c: "characterDevice",
  b: "blockDevice",
};

/** Bytes of a record before its names, the length of the rest included. */
const fixedBytes = 56;
const lengthBytes = 4;
const nanosecondsPerSecond = 1_000_000_000n;
const maxMode = 0o7777;

/** Cuts the answer of LOOK and LIST, fed piece by piece, into records. Holds at most one record. */
export class FileRecordReader {
  readonly #isTree: boolean;
  #rest: Buffer = Buffer.alloc(0);

  /** `isTree`: whether names may be paths. */
  constructor({ isTree = false } = {}) {
    this.#isTree = isTree;
  }

  /** Whether the bytes so far end in the middle of a record. */
  get isWithinRecord(): boolean {
    return this.#rest.length > 0;
  }

  /** @throws ProtocolError */
  read(bytes: Uint8Array): readonly FileRecord[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const records: FileRecord[] = [];
    for (;;) {
      const first = firstRecord(this.#rest, this.#isTree);
      if (first === null) break;
      records.push(first.record);
      this.#rest = first.rest;
    }
    // A copy: what is left must not keep all that came before it.
    this.#rest = Buffer.from(this.#rest);
    return records;
  }
}

/** The record that bytes begin with, and what follows it; null when it is not there yet. @throws ProtocolError @hostileText */
export function firstRecord(
  bytes: Buffer,
  isTree = false,
): { readonly record: FileRecord; readonly rest: Buffer } | null {
  if (bytes.length < lengthBytes) return null;
  const length = lengthBytes + bytes.readUInt32LE(0);
  if (length < fixedBytes || length > fixedBytes + 2 * frameLimits.maxPathBytes) {
    throw new ProtocolError(`a file's record of ${length} bytes`);
  }
  if (bytes.length < length) return null;
  return { record: recordOf(bytes.subarray(0, length), isTree), rest: bytes.subarray(length) };
}

/** The layout of PROTOCOL.md, "Files". */
function recordOf(record: Buffer, isTree: boolean): FileRecord {
  const kind = kinds[String.fromCharCode(record.readUInt8(4))];
  const nameBytes = record.readUInt16LE(6);
  const targetBytes = record.readUInt16LE(8);
  const mode = record.readUInt32LE(12);
  const nanoseconds = record.readUInt32LE(28);
  const closed = record.readUInt8(5);
  const areFlags = closed <= (kind === "folder" ? 1 : 0) && record.readUInt16LE(10) === 0;
  const fits = fixedBytes + nameBytes + targetBytes === record.length;
  if (kind === undefined || !areFlags || !fits || mode > maxMode || nanoseconds >= nanosecondsPerSecond) {
    throw new ProtocolError("a file's record that does not fit");
  }
  const name = Buffer.from(record.subarray(fixedBytes, fixedBytes + nameBytes));
  const parts = name.toString("latin1").split("/");
  if (
    name.includes(0) ||
    parts.includes(".") ||
    parts.includes("..") ||
    (parts.length > 1 && (!isTree || parts.includes("")))
  ) {
    throw new ProtocolError("a file's name that no folder has");
  }
  return {
    kind,
    name,
    target: Buffer.from(record.subarray(fixedBytes + nameBytes)),
    isClosed: closed === 1,
    mode,
    links: record.readUInt32LE(16),
    user: record.readUInt32LE(20),
    group: record.readUInt32LE(24),
    sizeBytes: record.readBigUInt64LE(32),
    inode: record.readBigUInt64LE(40),
    modifiedNs: record.readBigInt64LE(48) * nanosecondsPerSecond + BigInt(nanoseconds),
  };
}

const meanings: Readonly<Partial<Record<LinuxErrno, FileProblem>>> = {
  ...{ ENOENT: "missing", EEXIST: "exists", ENOTEMPTY: "exists" },
  ...{ EACCES: "closed", EPERM: "closed", EROFS: "closed" },
  ...{ ENOTDIR: "noFolder", EISDIR: "folder", EINVAL: "special", ENAMETOOLONG: "longName" },
  ...{ ELOOP: "circle", EXDEV: "circle" },
  ...{ ENOSPC: "full", EDQUOT: "full", EFBIG: "full" },
  ...{ EMFILE: "busy", ENFILE: "busy", EAGAIN: "busy", ENOMEM: "busy" },
};

/** The error of a file operation that did not end as asked; `path` is what it was about. */
function fileError({ reason, stage, errno }: StreamEnd, path: string): GloveboxError {
  const context = { path, stage };
  const shown = JSON.stringify(path);
  if (reason === "DEADLINE") {
    return new GloveboxError("TIMEOUT", `${shown} was not read or written in time.`, {
      suggestion: "Retry with fewer or smaller files; a program of the sandbox may hold the files up.",
      context,
    });
  }
  if (stage === "ENTRIES") {
    return new GloveboxError("POLICY_DENIED", `${shown} has more entries, bytes or folders in folders than allowed.`, {
      suggestion: "Take a smaller part.",
      context,
    });
  }
  if (stage === "ARCHIVE") {
    return new GloveboxError("INVALID_REQUEST", "The archive is damaged, or contains what is not unpacked.", {
      suggestion: "Give a tar archive of files, folders and links whose names stay below the folder.",
      context,
    });
  }
  if (stage === "HELPER") {
    return new GloveboxError("POLICY_DENIED", `A program in the sandbox ended or stopped the work on ${shown}.`, {
      suggestion: "End the sandbox's background processes, then retry.",
      context: { ...context, rule: "answer" },
    });
  }
  if (stage === "STREAMS" || stage === "FORK") {
    return new GloveboxError(
      "CAPACITY",
      "Too many programs, connections and file operations are open in the sandbox.",
      {
        suggestion: "End some of them, or wait until they have ended; then retry.",
      },
    );
  }
  return pathError(path, meanings[errnoName(errno) ?? "EIO"] ?? null, new Error(errnoText(errno)));
}

/** Whose files, and where. */
export interface FilesPlace {
  /** Absolute; links in it are followed. Everything is beneath it, and no link leads out of it. */
  readonly folder: string;
  readonly user: number;
  readonly group: number;
}

const defaults = { deadlineMs: 60_000, maxEntries: 10_000, maxBytes: 2 ** 30 };
const fileMode = 0o644;
const folderMode = 0o755;
/** Bytes of an entry's record on average: most names are far shorter than the longest path. */
const recordBytes = 512;

/** Files beneath one folder of a sandbox, each operation one stream of its supervisor. */
export class FolderFiles implements ContainerFiles {
  readonly #channel: () => SupervisorChannel;
  readonly #place: FilesPlace;

  constructor(channel: () => SupervisorChannel, place: FilesPlace) {
    this.#channel = channel;
    this.#place = place;
  }

  /** The file itself, a link not followed. @throws NOT_FOUND */
  async look(path: string, limits: FileLimits = {}): Promise<FileRecord> {
    const { records, end } = await this.#records({ verb: "LOOK", path }, { ...limits, maxEntries: 1 });
    this.#judge(end, path, limits.signal);
    const [record] = records;
    if (record === undefined) throw await this.#lies(new ProtocolError("no description of the one file"));
    return record;
  }

  async list(path: string, { levels = 1, keepsPart = false, ...limits }: ListLimits = {}): Promise<FolderListing> {
    const flags = levels === 1 ? [] : (["TREE"] as const);
    const offset = levels === "all of its file system" ? 0n : BigInt(levels);
    const { records, end, isCut } = await this.#records({ verb: "LIST", path, flags, offset }, limits);
    const isPart = isCut || end.stage === "ENTRIES" || (keepsPart && end.reason === "DEADLINE");
    if (!isPart) this.#judge(end, path, limits.signal);
    return { records, isWhole: !isPart };
  }

  async read(path: string, limits: ReadLimits = {}): Promise<OpenedFile> {
    const { offset = 0, followsLink = false } = limits;
    const flags = followsLink ? (["FOLLOW"] as const) : [];
    const pieces = this.#answer({ verb: "READ", path, offset: BigInt(offset), flags }, limits);
    let held: Buffer = Buffer.alloc(0);
    for (;;) {
      const { value, done } = await pieces.next();
      if (done === true) throw await this.#lies(new ProtocolError("half a file's record"));
      held = Buffer.concat([held, value]);
      try {
        const first = firstRecord(held);
        if (first === null) continue;
        const rest = Math.max(0, Number(first.record.sizeBytes) - offset);
        const maxBytes = Math.min(rest, limits.maxBytes ?? defaults.maxBytes);
        const bytes = orGivenUp(this.#content(first.rest, pieces, maxBytes), pieces);
        return { record: first.record, bytes };
      } catch (error) {
        await pieces.return();
        throw await this.#lies(error);
      }
    }
  }

  async write(path: string, content: FileContent, limits: WriteLimits = {}): Promise<void> {
    const { mode, makesFolders = false, isNew = false, followsLink = false } = limits;
    const flags = [
      ...(makesFolders ? (["PARENTS"] as const) : []),
      ...(isNew ? (["EXCLUSIVE"] as const) : []),
      ...(followsLink ? (["FOLLOW"] as const) : []),
      ...(mode === undefined ? [] : (["MODE"] as const)),
    ];
    await this.#give({ verb: "WRITE", path, mode: mode ?? fileMode, flags }, content, limits);
  }

  /** @throws ALREADY_EXISTS unless missing folders are made too, which makes one that exists right */
  async makeFolder(path: string, options: FileLimits & Pick<WriteLimits, "mode" | "makesFolders"> = {}): Promise<void> {
    const { mode = folderMode, makesFolders = false } = options;
    await this.#do({ verb: "MAKE", path, mode, flags: makesFolders ? ["PARENTS"] : [] }, options);
  }

  /** Replaces a file that is there, unless that is an error. */
  async move(
    path: string,
    to: string,
    options: FileLimits & Pick<WriteLimits, "isNew" | "makesFolders"> = {},
  ): Promise<void> {
    const { isNew = false, makesFolders = false } = options;
    const flags = [...(isNew ? (["EXCLUSIVE"] as const) : []), ...(makesFolders ? (["PARENTS"] as const) : [])];
    await this.#do({ verb: "MOVE", path, other: to, flags }, options);
  }

  /** A file, a link itself, or a folder, with `isTree` also one that is not empty. */
  async remove(path: string, options: FileLimits & { readonly isTree?: boolean } = {}): Promise<void> {
    await this.#do({ verb: "REMOVE", path, flags: options.isTree === true ? ["TREE"] : [] }, options);
  }

  /** Sets permission bits. */
  async changeMode(path: string, mode: number, limits: FileLimits = {}): Promise<void> {
    await this.#do({ verb: "CHMOD", path, mode }, limits);
  }

  pack(path: string, limits: FileLimits = {}): AsyncIterable<Uint8Array> {
    return this.#answer({ verb: "PACK", path }, limits);
  }

  async unpack(path: string, archive: FileContent, limits: UnpackLimits = {}): Promise<void> {
    const { makesFolders = false, replaces = false, clears = false } = limits;
    const flags = [
      ...(makesFolders ? (["PARENTS"] as const) : []),
      ...(replaces ? (["REPLACE"] as const) : []),
      ...(clears ? (["TREE"] as const) : []),
    ];
    await this.#give({ verb: "UNPACK", path, flags }, archive, limits);
  }

  async #records(request: Verb, limits: FileLimits): Promise<Records> {
    const maxEntries = limits.maxEntries ?? defaults.maxEntries;
    let left = limits.maxBytes ?? maxEntries * recordBytes;
    const reader = new FileRecordReader({ isTree: request.flags?.includes("TREE") });
    const records: FileRecord[] = [];
    const operation = await this.#begin(request, limits);
    const stop = watch(operation, limits.signal);
    try {
      for await (const { bytes } of operation.output) {
        records.push(...reader.read(bytes));
        // The supervisor was told the bound: what exceeds it is not read on.
        if (records.length > maxEntries) throw new ProtocolError(`more than ${maxEntries} entries`);
        left -= bytes.length;
        if (left < 0) break;
      }
      if (left < 0) operation.close();
      const end = await operation.ended;
      if (left >= 0 && end.reason === "DONE" && reader.isWithinRecord) throw new ProtocolError("half an entry");
      return { records, end, isCut: left < 0 };
    } catch (error) {
      throw await this.#lies(error);
    } finally {
      stop();
    }
  }

  async *#content(
    first: Buffer,
    pieces: AsyncGenerator<Uint8Array, void>,
    maxBytes: number,
  ): AsyncGenerator<Uint8Array, void> {
    let left = maxBytes;
    try {
      for (let bytes: Uint8Array = first; ;) {
        left -= bytes.length;
        if (left < 0) throw await this.#lies(new ProtocolError("more of a file than was asked for"));
        if (bytes.length > 0) yield bytes;
        const next = await pieces.next();
        if (next.done === true) return;
        bytes = next.value;
      }
    } finally {
      await pieces.return();
    }
  }

  /** What a supervisor that lies makes of its sandbox; other errors are as they are. */
  async #lies(error: unknown): Promise<unknown> {
    if (!(error instanceof ProtocolError)) return error;
    await this.#channel().close();
    return new GloveboxError("SANDBOX_LOST", "The sandbox described its files in a way that cannot be.", {
      cause: error,
    });
  }

  async *#answer(request: Verb, limits: FileLimits): AsyncGenerator<Uint8Array, void> {
    const operation = await this.#begin(request, limits);
    const stop = watch(operation, limits.signal);
    let isRead = false;
    try {
      for await (const { bytes } of operation.output) yield bytes;
      isRead = true;
      this.#judge(await operation.ended, request.path, limits.signal);
    } finally {
      stop();
      if (!isRead) operation.close();
    }
  }

  async #give(request: Verb, content: FileContent, limits: FileLimits): Promise<void> {
    const operation = await this.#begin(request, limits);
    const stop = watch(operation, limits.signal);
    operation.output.discard();
    try {
      // It may end, and say why, before all has been given.
      const given = pipeline(content, operation.input, { end: true }).then(() => operation.ended);
      const end = await Promise.race([operation.ended, given]).catch(async (error: unknown) => {
        operation.close();
        await operation.ended.catch(() => undefined);
        throw error;
      });
      this.#judge(end, request.path, limits.signal);
      await given;
    } finally {
      stop();
      operation.input.destroy();
    }
  }

  async #do(request: Verb, limits: FileLimits): Promise<void> {
    const operation = await this.#begin(request, limits);
    const stop = watch(operation, limits.signal);
    try {
      this.#judge(await operation.ended, request.path, limits.signal);
    } finally {
      stop();
    }
  }

  /** @throws how it ended, unless as it was asked to */
  #judge(end: StreamEnd, path: string, signal: AbortSignal | undefined): void {
    if (end.reason === "DONE") return;
    if (signal?.aborted === true) throw cancelled(signal.reason);
    const { folder } = this.#place;
    throw fileError(end, path === "" ? folder : `${folder === "/" ? "" : folder}/${path}`);
  }

  async #begin(request: Verb, limits: FileLimits): Promise<FileOperation> {
    throwIfCancelled(limits.signal);
    const { deadlineMs = defaults.deadlineMs, maxEntries = defaults.maxEntries, maxBytes = defaults.maxBytes } = limits;
    return this.#channel().file({ ...this.#place, ...request, deadlineMs, maxEntries, maxBytes: BigInt(maxBytes) });
  }
}

interface Records {
  readonly records: readonly FileRecord[];
  readonly end: StreamEnd;
  /** Whether there were more bytes than the limit. */
  readonly isCut: boolean;
}

type Verb = Pick<FileRequest, "verb" | "path" | "flags" | "mode" | "other" | "offset">;

/** The content; its reader may give it up before it has begun too. */
function orGivenUp(
  content: AsyncGenerator<Uint8Array, void>,
  pieces: AsyncGenerator<Uint8Array, void>,
): AsyncIterable<Uint8Array> {
  const giveUp = async (): Promise<IteratorResult<Uint8Array, void>> => {
    await pieces.return();
    return content.return();
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => content.next(), return: giveUp }) };
}

/** Gives the operation up when the signal aborts; the result stops watching. */
function watch(operation: FileOperation, signal: AbortSignal | undefined): () => void {
  const giveUp = (): void => operation.close();
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted === true) giveUp();
  return () => signal?.removeEventListener("abort", giveUp);
}
