import { outputMarkers } from "./agent-container.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { ChangedToolingFile } from "../../policy/tooling-changes.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { parseAgentOutput, type AgentOutput } from "./agent-protocol.ts";

/** What was found between the markers: the text of the last complete pair. */
export type MarkedText =
  | { readonly found: "pair"; readonly text: string }
  /** No start marker, or one without an end marker. */
  | { readonly found: "none" | "start" }
  /** The last pair had more than the limit. */
  | { readonly found: "tooLong" };

const markerLengths = [outputMarkers.start.length, outputMarkers.end.length];

/** Bytes of a line that could be a marker with blanks around it. */
const maxMarkerLine = Math.max(...markerLengths) + 6;
const minMarkerLine = Math.min(...markerLengths);
const newline = 0x0a;

/**
 * Finds the answer in a live stream (SPEC AG1), independent of how much of the stream is kept elsewhere. A marker is a
 * line of its own: in the middle of a line it is text. A start marker starts over; an end marker without a start is
 * text.
 *
 * It keeps the beginning of one line and at most `maxBytes` between two markers, for the complete pair as well as for
 * the open one.
 */
export class MarkedOutput {
  readonly #maxBytes: number;
  /** Beginning of the current line, as long as it could be a marker. */
  readonly #lineStart = Buffer.alloc(maxMarkerLine);
  #lineLength = 0;
  #open: GrowingBytes | null = null;
  #last: MarkedText = { found: "none" };

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      const at = bytes.indexOf(newline, from);
      const to = at === -1 ? bytes.length : at;
      this.#appendToLine(bytes.subarray(from, to));
      if (at !== -1) this.#endLine();
      from = to + 1;
    }
  }

  /** The result at the end of the stream; its last line needs no newline. */
  end(): MarkedText {
    this.#endLine();
    if (this.#open === null || this.#last.found !== "none") return this.#last;
    return { found: "start" };
  }

  #appendToLine(part: Uint8Array): void {
    if (this.#lineLength < maxMarkerLine) {
      this.#lineStart.set(part.subarray(0, maxMarkerLine - this.#lineLength), this.#lineLength);
    }
    this.#lineLength += part.length;
    this.#open?.append(part);
  }

  #endLine(): void {
    const length = this.#lineLength;
    const line =
      length < minMarkerLine || length > maxMarkerLine ? null : this.#lineStart.toString("latin1", 0, length);
    this.#lineLength = 0;
    if (line?.trim() === outputMarkers.start) {
      this.#open = new GrowingBytes(this.#maxBytes + maxMarkerLine);
    } else if (line?.trim() === outputMarkers.end && this.#open !== null) {
      this.#last = textOf(this.#open, length, this.#maxBytes);
      this.#open = null;
    } else {
      this.#open?.append(newlineBytes);
    }
  }
}

const newlineBytes = Uint8Array.of(newline);

const firstBytes = 4_096;

/** Concatenates bytes in one buffer, so that many small parts take no more memory than a large one. */
class GrowingBytes {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(firstBytes);
  /** Of everything received, including what was not kept. */
  length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(part: Uint8Array): void {
    const length = this.length + part.length;
    if (length <= this.#maxBytes) {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(part, this.length);
    }
    this.length = length;
  }

  text(length: number): string {
    return this.#bytes.toString("utf8", 0, length);
  }

  #grow(length: number): void {
    const larger = Buffer.alloc(Math.min(this.#maxBytes, Math.max(length, this.#bytes.length * 2)));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** The result of a run (SPEC AG1). */
export interface AgentResult {
  /** `success` only for an agent that exited with 0 and reported success. */
  readonly status: AgentOutput["status"];
  /** Its final answer; null if there is none. */
  readonly result: string | null;
  /** With which a later run can continue this one. */
  readonly newSessionId: string | null;
  /** What went wrong, according to the agent. */
  readonly agentError: string | null;
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  /** What it said and did, line by line. */
  readonly output: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly durationMs: number;
  readonly memoryPeakBytes: number | null;
  /** Name of its log, from the folder of all groups. */
  readonly log: string;
  readonly image: string;
  readonly sandboxId: string;
  readonly engine: EngineName;
  readonly isolation: Isolation;
  readonly ociRuntime: string | null;
  readonly policyDigest: string | null;
  /** Which files run by the folder owner's tools it changed. */
  readonly toolingFiles: readonly ChangedToolingFile[];
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}

/** The agent's answer, if any, and the error if there is no readable one. */
interface AgentAnswer {
  readonly output: AgentOutput | null;
  readonly error: GloveboxError | null;
}

const missing = {
  none: ["no_answer", "The agent ended without an answer"],
  start: ["no_answer", "The agent ended in the middle of its answer"],
  tooLong: ["answer_too_long", "The agent's answer is too long"],
} as const;

/** Reads the answer; `log` is named in the error. */
export function readAnswer(marked: MarkedText, log: string): AgentAnswer {
  if (marked.found !== "pair") {
    const [reason, words] = missing[marked.found];
    return { output: null, error: noAnswer(words, reason, log) };
  }
  const parsed = parseAgentOutput(marked.text);
  if (!("problem" in parsed)) return { output: parsed, error: null };
  return { output: null, error: noAnswer(`The agent's answer ${parsed.problem}`, "bad_answer", log) };
}

function noAnswer(words: string, reason: string, log: string): GloveboxError {
  return new GloveboxError("INTERNAL", `${words}. Its log is ${log}.`, {
    suggestion: "Read the log: it has all that the agent and the program around it printed.",
    context: { reason, log, retryable: true },
  });
}

/** The text of a pair, without the end marker, which was kept like any line. */
function textOf(pair: GrowingBytes, markerLength: number, maxBytes: number): MarkedText {
  const length = pair.length - markerLength;
  return length > maxBytes ? { found: "tooLong" } : { found: "pair", text: pair.text(length) };
}
