import { formatBytes, kibibyte, mebibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { matchesGlob, type Glob } from "../../policy/glob.ts";
import type { BatchFile, FoundEntries } from "../../sandbox/files/file-way.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import { workFolder } from "../program/runner-job.ts";

/** Something that a program left and that is not returned. */
interface LeftOut {
  readonly path: string;
  /** One sentence or more. */
  readonly reason: string;
}

/** Names in one warning, and characters of one name. */
const maxNames = 10;
const maxNameCharacters = 200;

/** One warning for each reason, in the order given. */
export function leftOutWarnings(all: readonly LeftOut[]): readonly string[] {
  const byReason = Map.groupBy(all, ({ reason }) => reason);
  return [...byReason].map(([reason, same]) => {
    const names = same.slice(0, maxNames).map(({ path }) => JSON.stringify(path.slice(0, maxNameCharacters)));
    const more = same.length - names.length;
    return `artifacts: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""} left out. ${reason}`;
  });
}

/** The kind of an artifact. */
type ArtifactType = "image" | "table" | "text" | "binary";

/** The content of an artifact, ready for JSON. */
interface ArtifactContent {
  readonly mediaType: string;
  readonly type: ArtifactType;
  /** `utf8` for valid UTF-8 without NUL, `base64` for everything else. */
  readonly encoding: "utf8" | "base64";
  readonly content: string;
}

const magicNumbers: readonly { readonly mediaType: string; readonly at: number; readonly bytes: string }[] = [
  { mediaType: "image/png", at: 0, bytes: "\x89PNG\r\n\x1a\n" },
  { mediaType: "image/jpeg", at: 0, bytes: "\xff\xd8\xff" },
  { mediaType: "image/gif", at: 0, bytes: "GIF87a" },
  { mediaType: "image/gif", at: 0, bytes: "GIF89a" },
  { mediaType: "image/webp", at: 8, bytes: "WEBPVP8" },
  { mediaType: "application/pdf", at: 0, bytes: "%PDF-" },
  { mediaType: "application/zip", at: 0, bytes: "PK\x03\x04" },
];

const textEndings: Readonly<Record<string, string>> = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  html: "text/html",
  md: "text/markdown",
  xml: "application/xml",
};

const binaryEndings: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  pdf: "application/pdf",
  zip: "application/zip",
};

/** An SVG image, after what XML allows before its first element. */
const svg =
  /^\ufeff?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,1000}-->\s*)?(?:<!DOCTYPE svg[^>]{0,500}>\s*)?<svg[\s>]/i;

/** Detects what a file is from its bytes; its name decides only between kinds of text. */
export function describeContent(path: string, bytes: Uint8Array): ArtifactContent {
  const binary = { encoding: "base64", content: Buffer.from(bytes).toString("base64") } as const;
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  const magic = magicNumbers.find((known) => start.startsWith(known.bytes, known.at));
  if (magic !== undefined) return { mediaType: magic.mediaType, type: typeOf(magic.mediaType, "binary"), ...binary };
  const text = asText(bytes);
  if (text === null) return { mediaType: "application/octet-stream", type: "binary", ...binary };
  const mediaType = svg.test(text.slice(0, 4096)) ? "image/svg+xml" : (textEndings[endingOf(path)] ?? "text/plain");
  return { mediaType, type: typeOf(mediaType, "text"), encoding: "utf8", content: text };
}

/** The same for a file that was not read: only by its name. */
export function describeUnread(path: string): ArtifactContent {
  const ending = endingOf(path);
  const mediaType = binaryEndings[ending] ?? textEndings[ending] ?? "application/octet-stream";
  const type = typeOf(mediaType, textEndings[ending] === undefined ? "binary" : "text");
  return { mediaType, type, encoding: "utf8", content: "" };
}

/** A file that a program left in its working folder. */
export interface Artifact extends ArtifactContent {
  /** Relative to the working folder. */
  readonly path: string;
  /** Bytes of the file; 0 if unknown. */
  readonly sizeBytes: number;
  /** Why the content is missing, in one sentence; absent when it is complete. */
  readonly omitted?: string;
}

/** Which files to collect from a sandbox whose program has ended. */
interface ArtifactRequest extends CallOptions {
  readonly files: Pick<SandboxFiles, "findEntries" | "readBatch">;
  readonly globs: readonly Glob[];
  /** The job's own files, which are not results; by path, relative to the working folder. */
  readonly ownPaths: readonly string[];
  /** Default `/work`. */
  readonly folder?: string | undefined;
}

/** Largest file whose content is returned: 10 MiB. */
const maxArtifactBytes: number = 10 * mebibyte;
/** Bytes of all contents together: 20 MiB. */
const maxArtifactsBytes: number = 20 * mebibyte;
/** Maximum files whose content is returned. */
export const maxArtifacts = 100;
/** Maximum files that are listed, with or without content. */
export const maxListedArtifacts = 200;

/** Maximum size of paths in one command's arguments: a quarter of Linux's limit. */
const maxArgumentBytes = 512 * kibibyte;

/** Result files of a program, and what its answer must say about others. */
export interface CollectedArtifacts {
  readonly artifacts: readonly Artifact[];
  /** What was asked for and is not returned, or without its content; the program chose the names. */
  readonly leftOut: readonly LeftOut[];
}

/**
 * Result files of a program, by path. Whatever it left behind (links, pipes, devices, odd names, files that change
 * meanwhile), nothing outside its sandbox is read, and time and memory are limited.
 * @throws UNSUPPORTED if the sandbox lacks the tools, CANCELLED, SANDBOX_LOST
 */
export async function collectArtifacts(request: ArtifactRequest): Promise<CollectedArtifacts> {
  const { files, signal, folder = workFolder } = request;
  const found = await files.findEntries(folder, { signal });
  const artifacts = await readChosen(found.files, { ...request, folder });
  const omitted = artifacts.flatMap(({ path, omitted: reason }) => (reason === undefined ? [] : [{ path, reason }]));
  return { artifacts, leftOut: [...omitted, ...leftOutOf(found, request)] };
}

async function readChosen(
  listed: readonly Uint8Array[],
  request: ArtifactRequest & { readonly folder: string },
): Promise<readonly Artifact[]> {
  const { files, signal, folder } = request;
  const { paths, unnamed, more } = choosePaths(listed, request);
  if (paths.length === 0) return unnamed;
  const limits = { maxFileBytes: maxArtifactBytes, maxBytes: maxArtifactsBytes };
  const found = await files.readBatch(folder, { paths: paths.slice(0, maxArtifacts), ...limits, signal });
  const read = paths.map((path, index) => {
    if (index < maxArtifacts) return toArtifact(path, found[index]);
    const unlisted = more === 0 ? "" : ` (and ${more} more that are not listed)`;
    return unread(path, 0, `More than ${maxArtifacts} files match${unlisted}.`);
  });
  return [...read, ...unnamed];
}

/** What matches and is no file, and folders in which files might match. */
function leftOutOf({ links, others, closedFolders }: FoundEntries, { globs, ownPaths }: ArtifactRequest): LeftOut[] {
  const own = new Set(ownPaths);
  const named = (listed: readonly Uint8Array[], reason: string): LeftOut[] =>
    listed.map((bytes) => ({ path: Buffer.from(bytes).toString("utf8"), reason }));
  const kinds = [
    ...named(links, "Links are not followed. Copy the file in place of the link."),
    ...named(others, "Only files are returned, not pipes, sockets or devices."),
  ];
  return [
    ...kinds.filter(({ path }) => !own.has(path) && matchesGlob(path, globs)),
    ...named(closedFolders, "The program took away the permission to look into these folders."),
  ];
}

interface ChosenPaths {
  readonly paths: readonly string[];
  /** Matching files with names that cannot be encoded in a message. */
  readonly unnamed: readonly Artifact[];
  /** How many further files match. */
  readonly more: number;
}

function choosePaths(listed: readonly Uint8Array[], { globs, ownPaths }: ArtifactRequest): ChosenPaths {
  const own = new Set(ownPaths);
  const matching = listed
    .map((bytes) => ({ bytes, path: Buffer.from(bytes).toString("utf8") }))
    .filter(({ path }) => !own.has(path) && matchesGlob(path, globs))
    .toSorted((a, b) => Buffer.compare(a.bytes, b.bytes));
  const paths: string[] = [];
  const unnamed: Artifact[] = [];
  let argumentBytes = 0;
  for (const { bytes, path } of matching) {
    if (paths.length + unnamed.length === maxListedArtifacts) break;
    if (Buffer.compare(Buffer.from(path), bytes) !== 0) {
      unnamed.push(unread(path, 0, "Its name is not valid UTF-8."));
      continue;
    }
    argumentBytes += bytes.length + 3;
    if (argumentBytes > maxArgumentBytes) break;
    paths.push(path);
  }
  return { paths, unnamed, more: matching.length - paths.length - unnamed.length };
}

function toArtifact(path: string, file: BatchFile | undefined): Artifact {
  if (file === undefined) return unread(path, 0, "It could not be read in time.");
  const { sizeBytes, bytes } = file;
  if (file.unreadable) return unread(path, 0, "The program took away the permission to read it.");
  if (sizeBytes === null) return unread(path, 0, "It went away before it was read.");
  if (bytes !== null) return { path, sizeBytes: bytes.length, ...describeContent(path, bytes) };
  const reason =
    sizeBytes > maxArtifactBytes
      ? `Larger than the ${formatBytes(maxArtifactBytes)} that one artifact may have.`
      : `All artifacts together would be larger than ${formatBytes(maxArtifactsBytes)}.`;
  return unread(path, sizeBytes, reason);
}

function unread(path: string, sizeBytes: number, omitted: string): Artifact {
  return { path, sizeBytes, ...describeUnread(path), omitted };
}

function typeOf(mediaType: string, otherwise: ArtifactType): ArtifactType {
  if (mediaType.startsWith("image/")) return "image";
  return mediaType === "text/csv" || mediaType === "text/tab-separated-values" ? "table" : otherwise;
}

function endingOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

function asText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not text; that is the answer.
    return null;
  }
}
