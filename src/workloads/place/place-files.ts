import { isUtf8 } from "node:buffer";
import { formatBytes, mebibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ChangedToolingFile } from "../../policy/tooling-changes.ts";
import type { FileKind } from "../../sandbox/files/file-way.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";

/** Work on the files of a place, by absolute paths inside. */
export type FileWork<T> = (files: SandboxFiles, call: CallOptions) => Promise<T>;

export interface FileOptions extends CallOptions {
  /** Whether the work changes files. */
  readonly writes: boolean;
}

/** The result of work on the files of a place. */
export interface FileUse<T> {
  readonly result: T;
  /** Whether its sandbox differs from that of the previous call. */
  readonly restarted: boolean;
  /** What the caller should know about that, one sentence each. */
  readonly warnings: readonly string[];
  /** Null if there is no project that could have any. */
  readonly toolingFiles: readonly ChangedToolingFile[] | null;
}

/** A file or folder in a place. */
export interface PlaceFile {
  /** Relative to the folder that was listed. */
  readonly path: string;
  readonly type: FileKind;
  readonly sizeBytes: number;
}

/** Largest part of a file that one call reads or writes. */
export const maxFileBytes: number = 10 * mebibyte;
/** Maximum entries that one call lists. */
const maxListed = 1000;

/** What is in a folder, by name. @throws what `SandboxFiles` throws */
export async function listFiles(
  files: SandboxFiles,
  path: string,
  { signal }: CallOptions,
): Promise<{ readonly files: readonly PlaceFile[]; readonly truncated: boolean }> {
  const { entries, isTruncated } = await files.list(path, { maxEntries: maxListed, signal });
  const found = entries.map(({ path: name, kind, sizeBytes }) => ({ path: name, type: kind, sizeBytes }));
  return { files: found, truncated: isTruncated };
}

/** Bytes of a file from an offset on. @throws what `SandboxFiles` throws */
export async function readFile(
  files: SandboxFiles,
  { path, offset, limit }: { readonly path: string; readonly offset: number; readonly limit: number },
  { signal }: CallOptions,
): Promise<{ readonly content: Uint8Array; readonly sizeBytes: number }> {
  const maxBytes = Math.min(limit, maxFileBytes);
  const { sizeBytes, chunks } = await files.read(path, { offsetBytes: offset, maxBytes, signal });
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return { content: Buffer.concat(pieces), sizeBytes };
}

/**
 * Replaces text in a file, which keeps its permissions.
 * @throws what `SandboxFiles` and `editText` throw, INVALID_REQUEST for what is no text, UNSUPPORTED for more than 10 MiB
 */
export async function editFile(
  files: SandboxFiles,
  { path, ...edit }: TextEdit & { readonly path: string },
  call: CallOptions,
): Promise<{ readonly replacements: number; readonly sizeBytes: number }> {
  const { content, sizeBytes } = await readFile(files, { path, offset: 0, limit: maxFileBytes }, call);
  if (content.length < sizeBytes) {
    throw new GloveboxError("UNSUPPORTED", `The file has ${sizeBytes} bytes, more than ${formatBytes(maxFileBytes)}.`, {
      suggestion: "Change it with a program in the sandbox, such as sed.",
      context: { field: "path" },
    });
  }
  if (!isUtf8(content)) {
    throw new GloveboxError("INVALID_REQUEST", "path: the file is no UTF-8 text.", {
      suggestion: "Write it anew with write_file in base64, or change it with a program in the sandbox.",
      context: { field: "path" },
    });
  }
  const { text, replacements } = editText(Buffer.from(content).toString("utf8"), edit);
  const edited = Buffer.from(text);
  await writeFile(files, { path, content: edited }, call);
  return { replacements, sizeBytes: edited.length };
}

/**
 * Writes a whole file; missing folders are created. @throws what `SandboxFiles` throws, INVALID_REQUEST for too much
 */
export async function writeFile(
  files: SandboxFiles,
  { path, content }: { readonly path: string; readonly content: Uint8Array },
  { signal }: CallOptions,
): Promise<void> {
  if (content.length > maxFileBytes) {
    throw new GloveboxError("INVALID_REQUEST", `content: expected at most ${formatBytes(maxFileBytes)}.`, {
      context: { field: "content" },
    });
  }
  await files.write(path, content, { signal });
}

export interface TextEdit {
  /** Exactly as in the text, including white space. */
  readonly oldText: string;
  readonly newText: string;
  /** Whether every match is replaced; otherwise there must be exactly one. */
  readonly all: boolean;
}

/** Maximum matches whose lines an error names. */
const maxNamed = 10;
/** Maximum length of the nearest text as shown. */
const maxShownCharacters = 2_000;
/** Maximum length of the text after replacement: no file that is written may have more bytes. */
const maxEditedCharacters = 10 * mebibyte;

/**
 * The text after replacement, and the number of replacements.
 * @throws INVALID_REQUEST without a match, with the most similar text and its line; for several matches with their
 * lines; for more than 10 MiB of text afterwards
 */
export function editText(text: string, { oldText, newText, all }: TextEdit): { text: string; replacements: number } {
  const starts = findAll(text, oldText);
  const replacements = starts.length;
  if (replacements === 0) throw unmatched(text, oldText);
  if (replacements > 1 && !all) throw ambiguous(text, starts);
  const length = text.length + replacements * (newText.length - oldText.length);
  if (length > maxEditedCharacters) {
    throw new GloveboxError(
      "INVALID_REQUEST",
      `The file would have ${length} characters after ${replacements} replacements, more than ${formatBytes(maxEditedCharacters)}.`,
      { suggestion: "Replace fewer matches, or with a shorter new_text.", context: { field: "new_text" } },
    );
  }
  let at = 0;
  const pieces = starts.map((start) => {
    const piece = text.slice(at, start);
    at = start + oldText.length;
    return piece;
  });
  return { text: [...pieces, text.slice(at)].join(newText), replacements };
}

/**
 * Where a text that is not empty stands, without overlaps. By Knuth, Morris and Pratt, in time proportional to both: the
 * engine's own search takes their product if a program writes what nearly matches everywhere.
 */
function findAll(text: string, wanted: string): readonly number[] {
  const borders = bordersOf(wanted);
  const starts: number[] = [];
  let matched = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    while (matched > 0 && wanted.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === code) matched += 1;
    if (matched < wanted.length) continue;
    starts.push(index + 1 - matched);
    matched = 0;
  }
  return starts;
}

/** For each beginning of a text, the length of its longest proper part that is its beginning and its end. */
function bordersOf(wanted: string): Uint32Array {
  const borders = new Uint32Array(wanted.length);
  let length = 0;
  for (let index = 1; index < wanted.length; index += 1) {
    const code = wanted.charCodeAt(index);
    while (length > 0 && wanted.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
    if (wanted.charCodeAt(length) === code) length += 1;
    borders[index] = length;
  }
  return borders;
}

function ambiguous(text: string, starts: readonly number[]): GloveboxError {
  let line = 1;
  let counted = 0;
  const lines = starts.slice(0, maxNamed).map((start) => {
    line += breaksIn(text.slice(counted, start));
    counted = start;
    return line;
  });
  const count = starts.length;
  const more = count > lines.length ? " and more" : "";
  return new GloveboxError(
    "INVALID_REQUEST",
    `old_text stands ${count} times in the file, at lines ${lines.join(", ")}${more}.`,
    {
      suggestion: "Give more of the text around the one that is meant, or set replace_all to change every one.",
      context: { field: "old_text", matches: count, lines: lines },
    },
  );
}

function unmatched(text: string, oldText: string): GloveboxError {
  const near = nearestText(text, oldText);
  const why = hasOtherBreaks(text, oldText) ? " The file's lines end with \\r\\n." : "";
  if (near === null) {
    return new GloveboxError("INVALID_REQUEST", `old_text is not in the file, nor anything like it.${why}`, {
      suggestion: "Read the file with read_file and copy the text to change from it.",
      context: { field: "old_text" },
    });
  }
  const shown = near.text.slice(0, maxShownCharacters);
  return new GloveboxError(
    "INVALID_REQUEST",
    `old_text is not in the file.${why} The nearest text begins at line ${near.line}:\n${shown}`,
    {
      suggestion: "Copy the text to change from the file as it is, white space included.",
      context: { field: "old_text", line: near.line, nearest: shown },
    },
  );
}

function hasOtherBreaks(text: string, oldText: string): boolean {
  return text.includes("\r\n") && oldText.includes("\n") && !oldText.includes("\r\n");
}

function breaksIn(text: string): number {
  return text.split("\n").length - 1;
}

/** As many lines as the wanted text has, at the position with the most matches. */
function nearestText(text: string, wanted: string): { readonly line: number; readonly text: string } | null {
  const lines = text.split("\n");
  const wantedLines = wanted.replace(/\n$/, "").split("\n");
  const start = startOfEqual(lines, wantedLines) ?? startOfLike(lines, wantedLines);
  if (start === null) return null;
  const found = lines.slice(start, start + wantedLines.length);
  return { line: start + 1, text: found.map((line) => line.replace(/\r$/, "")).join("\n") };
}

/** Places of one line in the wanted text that are counted. */
const maxSameLines = 20;

/** The position where most lines match except for surrounding space; null: none does. */
function startOfEqual(lines: readonly string[], wanted: readonly string[]): number | null {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const words = line.trim();
    // A line with just a bracket does not identify a position.
    if (words.length <= 2) continue;
    const same = places.get(words) ?? [];
    if (same.length < maxSameLines) same.push(index);
    places.set(words, same);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    for (const place of places.get(line.trim()) ?? []) {
      const start = Math.max(0, index - place);
      votes.set(start, (votes.get(start) ?? 0) + 1);
    }
  }
  let best: number | null = null;
  for (const [start, count] of votes) {
    if (best === null || count > (votes.get(best) ?? 0)) best = start;
  }
  return best;
}

/** Maximum lines to compare, and characters of each: a file may have 10 MiB. */
const maxCompared = 5_000;
const maxComparedCharacters = 200;

/**
 * The position of the line that shares the most letter pairs with the longest wanted line, at least half of them; null:
 * none.
 */
function startOfLike(lines: readonly string[], wanted: readonly string[]): number | null {
  const lengths = wanted.map((line) => line.trim().length);
  const anchor = lengths.indexOf(lengths.reduce((longest, length) => Math.max(longest, length), 0));
  const pairs = pairsOf(wanted[anchor] ?? "");
  if (pairs.size === 0) return null;
  let best: number | null = null;
  let bestScore = 0.5;
  for (const [index, line] of lines.slice(0, maxCompared).entries()) {
    const own = pairsOf(line);
    const shared = [...own].filter((pair) => pairs.has(pair)).length;
    const score = (2 * shared) / (own.size + pairs.size);
    if (score > bestScore) {
      bestScore = score;
      best = Math.max(0, index - anchor);
    }
  }
  return best;
}

function pairsOf(line: string): ReadonlySet<string> {
  const text = line.trim().toLowerCase().slice(0, maxComparedCharacters);
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2)));
}
