import type { Writable, Readable } from "node:stream";
import { untilWritable } from "../base/streams/chunks.ts";
import { escapeControls, escapeLine } from "./output/terminal-text.ts";
import type { Logger } from "../base/logger.ts";

/** A stream of the command itself; the rest is as Node's process streams have it. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/**
 * Passes a program's bytes on to one of the command's streams: untouched to files and pipes, made harmless to a
 * terminal.
 */
export class ProgramOutput {
  readonly #target: OutputStream;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(target: OutputStream) {
    this.#target = target;
  }

  /** Resolves when the stream can take more, or is closed. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.offer(bytes)) await untilWritable(this.#target);
  }

  /** The same without waiting; returns whether the stream can take more. */
  offer(bytes: Uint8Array): boolean {
    if (this.#target.destroyed) return true;
    return this.#target.isTTY
      ? this.#target.write(escapeControls(this.#decoder.decode(bytes, { stream: true })))
      : this.#target.write(bytes);
  }
}

/** Everything a command may use of the process it runs in. */
export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborts when the user or the system asks the command to end; its reason is the exit code, 128 + N. */
  readonly signal: AbortSignal;
  /** Type of the user's terminal (`TERM`); empty if it is not set. */
  readonly term: string;
}

/** Hands a command's exit code to the caller of `runCommandLine`. */
export type SetExitCode = (exitCode: number) => void;

const barWidth = 24;

/** A progress line on a terminal that is overwritten; silent if stderr is not a terminal. */
export class ProgressLine {
  readonly #target: OutputStream;
  #shown = false;

  constructor(target: OutputStream) {
    this.#target = target;
  }

  show(message: string, fraction: number | null): void {
    if (!this.#target.isTTY) return;
    const bar = fraction === null ? "" : ` ${progressBar(fraction)}`;
    this.#target.write(`\r\x1b[K${escapeLine(message)}${bar}`);
    this.#shown = true;
  }

  /** Clears the line, so that whatever comes next starts clean. */
  clear(): void {
    if (this.#shown) this.#target.write("\r\x1b[K");
    this.#shown = false;
  }
}

/** Characters of one line; reasons may repeat what an engine or a program said. */
const maxLine = 1_000;
const maxReason = 600;
const maxField = 100;

/** Commands print the log for people: a line per entry with its message, its reason and its other fields in short. */
export function plainLog(stderr: { readonly write: (text: string) => unknown }): Logger {
  const write: Logger["info"] = ({ err, ...fields }, message) => {
    const reason = err instanceof Error ? `: ${err.message}` : "";
    const rest = Object.entries(fields).map(([name, value]) => `${name} ${shortly(value)}`);
    const beside = rest.length === 0 ? "" : ` (${rest.join(", ")})`;
    stderr.write(`${escapeLine(`glovebox: ${message}${reason.slice(0, maxReason)}${beside}`.slice(0, maxLine))}\n`);
  };
  return { debug: write, info: write, warn: write, error: write };
}

function shortly(value: unknown): string {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "none")).slice(0, maxField);
}

/** `[#####-----] 50 %` of a fraction between 0 and 1. */
function progressBar(fraction: number): string {
  const share = Math.min(1, Math.max(0, fraction));
  const filled = Math.round(share * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${Math.round(share * 100)} %`;
}
