import type { PatternAutomaton } from "./pattern-automaton.ts";

interface Match {
  /** Offsets in the whole stream. */
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

const nothing: Uint8Array = new Uint8Array();

/**
 * Replaces patterns in one stream of bytes by `[redacted:NAME]`, however the stream is cut into pieces.
 *
 * It holds back only bytes that may yet become part of a pattern, fewer than the longest pattern has, until more bytes
 * or the end decide: there is no clock. Patterns that overlap are replaced together, under the name of the first.
 */
export class Redactor {
  readonly #automaton: PatternAutomaton;
  readonly #onFound: (name: string) => void;
  /** Found and not reported yet; in order, without overlaps. */
  readonly #matches: Match[] = [];
  #state = 0;
  /** Bytes that came in. */
  #seen = 0;
  /** The last of them, which have not gone out yet. */
  #held: Uint8Array = nothing;
  /** Everything before it has gone out, or never will. */
  #settledTo = 0;

  constructor(automaton: PatternAutomaton, onFound: (name: string) => void) {
    this.#automaton = automaton;
    this.#onFound = onFound;
  }

  /** What can go out now; may be empty. */
  write(bytes: Uint8Array): Uint8Array {
    const automaton = this.#automaton;
    let state = this.#state;
    let seen = this.#seen;
    for (let index = 0; index < bytes.length; index++) {
      state = automaton.next(state, bytes[index] ?? 0);
      seen++;
      const length = automaton.matchedLength(state);
      if (length > 0) this.#mark({ from: seen - length, to: seen, name: automaton.matchedName(state) });
    }
    this.#state = state;
    this.#seen = seen;
    const data = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    return this.#release(data, seen - automaton.undecidedLength(state));
  }

  /** The rest, at the end of the stream. */
  end(): Uint8Array {
    this.#state = 0;
    return this.#release(this.#held, this.#seen);
  }

  #mark(match: Match): void {
    let { from, name } = match;
    for (let last = this.#matches.at(-1); last !== undefined && last.to > from; last = this.#matches.at(-1)) {
      this.#matches.pop();
      if (last.from > from) continue;
      ({ from, name } = last);
    }
    // It continues one that was already reported.
    if (from < this.#settledTo) this.#settledTo = match.to;
    else this.#matches.push({ from, to: match.to, name });
  }

  /** Takes what lies before `decidedTo` out of the last bytes that came in. */
  #release(data: Uint8Array, decidedTo: number): Uint8Array {
    const start = this.#seen - data.length;
    const parts: Uint8Array[] = [];
    let at = Math.max(start, this.#settledTo);
    const told = this.#matches.findIndex(({ from }) => from > decidedTo);
    for (const { from, to, name } of this.#matches.splice(0, told < 0 ? this.#matches.length : told)) {
      this.#onFound(name);
      parts.push(data.subarray(at - start, from - start), Buffer.from(`[redacted:${name}]`));
      at = to;
    }
    if (at < decidedTo) {
      parts.push(data.subarray(at - start, decidedTo - start));
      at = decidedTo;
    }
    this.#settledTo = at;
    // A copy: the producer may use its buffer again.
    this.#held = at < this.#seen ? new Uint8Array(data.subarray(at - start)) : nothing;
    return parts.length === 1 ? (parts[0] ?? nothing) : Buffer.concat(parts);
  }
}
