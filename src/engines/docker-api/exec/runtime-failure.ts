import type { OutputChunk } from "../../engine.ts";
import type { RuntimeFailureMarker } from "../dialect.ts";

/** A program that was never started: what a shell would write, and its exit code. */
export interface RuntimeFailure {
  /** 127: there is no such program; 126: it cannot be run. */
  readonly exitCode: 126 | 127;
  readonly message: string;
}

/**
 * The message of a container runtime that could not start the program of `command`, worded as a shell would. Null for
 * messages about anything else.
 */
export function parseRuntimeFailure(text: string, command: readonly string[]): RuntimeFailure | null {
  const program = command[0] ?? "";
  const directory = /chdir to cwd \("([^"]*)"\)[^:]*: ([^:]+)/.exec(text);
  if (directory !== null) {
    return { exitCode: 126, message: `cannot enter the working directory ${directory[1]}: ${directory[2]}` };
  }
  // What the runtime says of the program itself: `exec: "PROGRAM": REASON` or `exec PROGRAM: REASON`.
  const reason = /exec(?:: "[^"]*"| [^\s:]+): (.*?)(?:: unknown)?\s*$/s.exec(text)?.[1] ?? "";
  if (/executable file not found|no such file or directory|command that was not found/.test(reason)) {
    return { exitCode: 127, message: `${program}: not found` };
  }
  const known = /permission denied|is a directory|exec format error/.exec(reason);
  if (known !== null) return { exitCode: 126, message: `${program}: ${known[0]}` };
  return parseCrunFailure(text, program);
}

/** The words of crun, which names no program when it cannot run one. */
function parseCrunFailure(text: string, program: string): RuntimeFailure | null {
  const directory = /crun: chdir (?:to )?[`"]?(\/[^`":]*)[`"]?: ([^:]+)/i.exec(text);
  if (directory !== null) {
    return {
      exitCode: 126,
      message: `cannot enter the working directory ${directory[1]}: ${directory[2]?.toLowerCase()}`,
    };
  }
  if (/crun: executable file [`"][^`"]*[`"'] not found/.test(text)) {
    return { exitCode: 127, message: `${program}: not found` };
  }
  const known =
    /crun: (?:open executable|exec(?:ve)?[^:]*): (permission denied|is a directory|exec format error)/i.exec(text);
  return known === null ? null : { exitCode: 126, message: `${program}: ${known[1]?.toLowerCase()}` };
}

/** The same for an exec, where any other reason is an answer, too: the container may be full. */
export function parseExecFailure(text: string, command: readonly string[]): RuntimeFailure {
  const known = parseRuntimeFailure(text, command);
  if (known !== null) return known;
  const isFull = /resource temporarily unavailable|cannot allocate memory|read init-p|procReady/.test(text);
  // Only the last clause: those before it may hold paths of the host.
  const lastClause =
    text
      .trim()
      .replace(/: unknown$/, "")
      .split(": ")
      .at(-1) ?? "";
  const reason = isFull ? "no process or memory is left" : lastClause;
  return { exitCode: 126, message: `${command[0] ?? ""}: cannot be started: ${reason}` };
}

/** Longest text that is held back, and for how long: the runtime's words are short and the stream ends after them. */
const heldBytesMax = 4_096;
const heldMs = 500;

/** Holds back the first output while it may be the runtime's words instead of the program's. */
export class RuntimeFailureFilter {
  readonly #marker: RuntimeFailureMarker;
  #held: OutputChunk[] = [];
  #decided = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(marker: RuntimeFailureMarker) {
    this.#marker = marker;
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** What was held back, as text. */
  get heldText(): string {
    return Buffer.concat(this.#held.map((chunk) => chunk.bytes)).toString("utf8");
  }

  /** The chunks that are certain to be the program's; `late` gets those that prove to be while nothing more arrives. */
  pass(chunks: readonly OutputChunk[], late: (chunks: readonly OutputChunk[]) => void): readonly OutputChunk[] {
    if (this.#decided || chunks.length === 0) return chunks;
    this.#held.push(...chunks);
    if (!this.#mayBeRuntime()) return this.settle(false);
    this.#timer ??= setTimeout(() => late(this.settle(false)), heldMs);
    return [];
  }

  /** Ends the holding back; gives the held chunks, or none when they were the runtime's. */
  settle(wasRuntime: boolean): readonly OutputChunk[] {
    clearTimeout(this.#timer);
    this.#decided = true;
    const held = this.#held.splice(0);
    return wasRuntime ? [] : held;
  }

  #mayBeRuntime(): boolean {
    if (this.#held.some((chunk) => chunk.stream !== this.#marker.stream)) return false;
    const text = this.heldText;
    if (text.length > heldBytesMax) return false;
    return this.#marker.prefixes.some((prefix) => text.startsWith(prefix) || prefix.startsWith(text));
  }
}
