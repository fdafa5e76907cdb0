import { formatBytes, kibibyte, mebibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Glob } from "../../policy/patterns/glob.ts";
import { matchesGlob } from "../../policy/patterns/glob-match.ts";
import { describeContent, describeUnread, type ArtifactContent } from "./artifact-content.ts";
import { shellCommands, type ArtifactCommands } from "./artifact-commands.ts";
import { parseList, parseRead, type ReadFile } from "./artifact-scripts.ts";
import { workFolder } from "../program/runner-job.ts";
import { runSandboxCommand, type CommandSandbox, type SandboxCommandResult } from "../../sandbox/sandbox-command.ts";

/** A file that a program left in its working folder. */
export interface Artifact extends ArtifactContent {
  /** Relative to the working folder. */
  readonly path: string;
  /** Bytes of the file; 0 where they could not be learned. */
  readonly sizeBytes: number;
  /** Why the content is missing, in one sentence; absent when it is complete. */
  readonly omitted?: string;
}

/** What is asked of a sandbox whose program has ended. */
export interface ArtifactRequest extends CallOptions {
  readonly sandbox: CommandSandbox;
  readonly globs: readonly Glob[];
  /** The job's own files, which are no results; by path, relative to the working folder. */
  readonly ownPaths: readonly string[];
  /** Default `/work`. */
  readonly folder?: string | undefined;
  /** Default: those of the shell. */
  readonly commands?: ArtifactCommands | undefined;
}

/** Largest file whose content is returned: 10 MiB. */
const maxArtifactBytes: number = 10 * mebibyte;
/** Bytes of all contents together: 20 MiB. */
const maxArtifactsBytes: number = 20 * mebibyte;
/** Most files whose content is returned. */
export const maxArtifacts = 100;
/** Most files that are listed, with or without their content. */
export const maxListedArtifacts = 200;

/** Paths are looked through up to this many bytes of them. */
const maxListBytes = mebibyte;
/** Paths that one command can be given as arguments: a quarter of what Linux takes. */
const maxArgumentBytes = 512 * kibibyte;
/** Base64 with its line ends takes 77 bytes for 57; sizes and dots come to little. */
const maxReadBytes: number = Math.ceil((maxArtifactsBytes * 77) / 57) + 64 * kibibyte;
const listTimeMs = 10_000;
const readTimeMs = 20_000;

/**
 * Result files of a program, by path. Whatever it left behind (links, pipes, devices, odd names, files that change
 * meanwhile), nothing outside its sandbox is read, and time and memory stay within limits.
 * @throws UNSUPPORTED when the sandbox lacks the tools, CANCELLED, SANDBOX_LOST
 */
export async function collectArtifacts(request: ArtifactRequest): Promise<readonly Artifact[]> {
  const { sandbox, signal, folder = workFolder, commands = shellCommands } = request;
  const listed = await runSandboxCommand(
    sandbox,
    { command: commands.list(folder), maxOutputBytes: maxListBytes, timeLimitMs: listTimeMs },
    { signal },
  );
  assertTools(listed);
  const { paths, unnamed, more } = choosePaths(parseList(listed.stdout.bytes()), request);
  if (paths.length === 0) return unnamed;
  const limits = [String(maxArtifactBytes), String(maxArtifactsBytes)];
  const names = paths.map((path) => `./${path}`);
  const toRead = await runSandboxCommand(
    sandbox,
    {
      command: commands.read(folder, limits, names.slice(0, maxArtifacts)),
      maxOutputBytes: maxReadBytes,
      timeLimitMs: readTimeMs,
    },
    { signal },
  );
  assertTools(toRead);
  const files = parseRead(toRead.stdout.bytes());
  const read = paths.map((path, index) => {
    if (index < maxArtifacts) return toArtifact(path, files[index]);
    const unlisted = more === 0 ? "" : ` (and ${more} more that are not listed)`;
    return unread(path, 0, `More than ${maxArtifacts} files match${unlisted}.`);
  });
  return [...read, ...unnamed];
}

interface ChosenPaths {
  readonly paths: readonly string[];
  /** Files that match but have names which no message can carry. */
  readonly unnamed: readonly Artifact[];
  /** How many more match. */
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

function toArtifact(path: string, file: ReadFile | undefined): Artifact {
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

/** Other failures (a folder that may not be read, a time limit) leave what was found. */
function assertTools({ exitCode, stderr }: SandboxCommandResult): void {
  const missing = /^sh: (?:line )?(?:\d+: )?(?:exec: )?(?:find|stat|head|base64): (?:command )?not found$/m;
  if (exitCode !== 127 && !missing.test(stderr.text())) return;
  throw new GloveboxError("UNSUPPORTED", "The sandbox lacks find, stat, head or base64, which artifacts need.", {
    suggestion: "Choose an image with these tools, or print the results instead of asking for artifacts.",
  });
}
