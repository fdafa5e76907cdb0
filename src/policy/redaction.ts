/** Fewest bytes of a value that is looked for in output: a shorter one would be found in innocent places. */
export const shortestRedacted = 6;

/** Lines of a value of many lines that are looked for one by one, such as those of a key in PEM. */
const shortestLine = 16;

/** Which characters each kind of percent-encoding leaves alone, and what it makes of a space. */
const percentEncodings: readonly { readonly kept: RegExp; readonly space: string }[] = [
  { kept: /[\w.!~*'()-]/, space: "%20" },
  { kept: /[\w.~-]/, space: "%20" },
  { kept: /[\w.~/-]/, space: "%20" },
  { kept: /[\w.*-]/, space: "+" },
  { kept: /[\w.~-]/, space: "+" },
];

/** Columns after which tools break base64: `base64` and mail, `openssl` and PEM. */
const base64Columns = [76, 64] as const;

/** Bytes to be found, and the name that they are found under. */
interface BytePattern {
  /** At least one. */
  readonly bytes: Uint8Array;
  readonly name: string;
}

/**
 * Finds any of many byte patterns in one pass (Aho and Corasick): a step a byte on average, whatever the input.
 *
 * A state stands for the longest end of the input so far that begins a pattern. Children are lists and no tables, so
 * that memory is a few numbers for each byte of the patterns.
 */
export class PatternAutomaton {
  readonly #names: readonly string[];
  readonly #bytes: Uint8Array;
  readonly #firstChild: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fallback: Int32Array;
  readonly #depth: Int32Array;
  readonly #held: Int32Array;
  readonly #matched: Int32Array;
  readonly #name: Int32Array;
  /** Children of the start, where most of any input goes round. */
  readonly #fromStart: Int32Array = new Int32Array(256);

  constructor(patterns: readonly BytePattern[]) {
    const size = patterns.reduce((sum, { bytes }) => sum + bytes.length, 1);
    const numbers = (): Int32Array => new Int32Array(size);
    this.#names = patterns.map(({ name }) => name);
    this.#bytes = new Uint8Array(size);
    this.#firstChild = numbers();
    this.#sibling = numbers();
    this.#fallback = numbers();
    this.#depth = numbers();
    this.#held = numbers();
    this.#matched = numbers();
    this.#name = numbers();
    this.#link(this.#grow(patterns));
  }

  /** The state after one more byte; the first state is 0. */
  next(state: number, byte: number): number {
    for (let from = state; ; from = this.#fallback[from] ?? 0) {
      if (from === 0) return this.#fromStart[byte] ?? 0;
      const child = this.#child(from, byte);
      if (child !== 0) return child;
    }
  }

  /** Length of the longest pattern that ends here; 0 for none. */
  matchedLength(state: number): number {
    return this.#matched[state] ?? 0;
  }

  /** Name of that pattern. */
  matchedName(state: number): string {
    return this.#names[this.#name[state] ?? 0] ?? "";
  }

  /** How many of the last bytes may yet become part of a pattern that has not ended. */
  undecidedLength(state: number): number {
    return this.#held[state] ?? 0;
  }

  #child(state: number, byte: number): number {
    let child = this.#firstChild[state] ?? 0;
    while (child !== 0 && this.#bytes[child] !== byte) child = this.#sibling[child] ?? 0;
    return child;
  }

  /** Makes a tree of the patterns; returns how many states it has. */
  #grow(patterns: readonly BytePattern[]): number {
    let count = 1;
    for (const [index, { bytes }] of patterns.entries()) {
      let state = 0;
      for (const byte of bytes) {
        let child = state === 0 ? (this.#fromStart[byte] ?? 0) : this.#child(state, byte);
        if (child === 0) {
          child = count++;
          this.#bytes[child] = byte;
          this.#depth[child] = (this.#depth[state] ?? 0) + 1;
          this.#sibling[child] = this.#firstChild[state] ?? 0;
          this.#firstChild[state] = child;
          if (state === 0) this.#fromStart[byte] = child;
        }
        state = child;
      }
      if (this.#matched[state] === 0) this.#name[state] = index;
      this.#matched[state] = bytes.length;
    }
    return count;
  }

  /** Gives each state the one to fall back to, the shorter ones before the longer ones. */
  #link(count: number): void {
    const queue = new Int32Array(count);
    let end = 1;
    for (let at = 0; at < end; at++) {
      const state = queue[at] ?? 0;
      let child = this.#firstChild[state] ?? 0;
      for (; child !== 0; child = this.#sibling[child] ?? 0) {
        queue[end++] = child;
        const fallback = state === 0 ? 0 : this.next(this.#fallback[state] ?? 0, this.#bytes[child] ?? 0);
        this.#fallback[child] = fallback;
        if (this.#matched[child] === 0) {
          this.#matched[child] = this.#matched[fallback] ?? 0;
          this.#name[child] = this.#name[fallback] ?? 0;
        }
        const goesOn = this.#firstChild[child] !== 0;
        this.#held[child] = (goesOn ? this.#depth[child] : this.#held[fallback]) ?? 0;
      }
    }
  }
}

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

/** A secret as redaction knows it. */
export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/**
 * Takes the values of a run's secrets out of what is stored, shown or sent on: a seat belt and no wall, because the
 * program owns the values and can write them in ways of its own (docs/secrets.md).
 */
export class Redaction {
  readonly #automaton: PatternAutomaton | null;
  readonly #found = new Set<string>();
  /** Names of secrets that are too short to be looked for. */
  readonly tooShort: readonly string[];

  constructor(secrets: readonly NamedSecret[]) {
    const patterns = secrets.flatMap(({ name, value }) => secretSpellings(value).map((bytes) => ({ name, bytes })));
    const named = new Set(patterns.map(({ name }) => name));
    this.tooShort = [...new Set(secrets.map(({ name }) => name))].filter((name) => !named.has(name));
    this.#automaton = patterns.length === 0 ? null : new PatternAutomaton(patterns);
  }

  /** Names of the secrets whose values were taken out of something until now. */
  get found(): readonly string[] {
    return [...this.#found].toSorted();
  }

  /** For one stream; null when there is nothing to look for. */
  stream(): Redactor | null {
    return this.#automaton === null ? null : new Redactor(this.#automaton, (name) => this.#found.add(name));
  }

  /** The same bytes when nothing is found in them. */
  bytes(bytes: Uint8Array): Uint8Array {
    const redactor = this.stream();
    return redactor === null ? bytes : Buffer.concat([redactor.write(bytes), redactor.end()]);
  }

  text(text: string): string {
    return this.#automaton === null ? text : Buffer.from(this.bytes(Buffer.from(text))).toString();
  }
}

/**
 * The secrets that a place whose files last has been given until now. What one program of it was given another may find,
 * in a file or a process list: so all of them are taken out of what each writes.
 */
export class GivenSecrets {
  readonly #given = new Map<string, NamedSecret>();

  add(secrets: readonly NamedSecret[]): void {
    for (const { name, value } of secrets) this.#given.set(JSON.stringify([name, value]), { name, value });
  }

  /** For one program's output, or one text. */
  redaction(): Redaction {
    return new Redaction([...this.#given.values()]);
  }
}

/**
 * The bytes by which a secret's value is found in what a program writes: itself, in lower case (host names), as JSON
 * and as part of an address would spell it, in hexadecimal, and in base64, wherever in the encoded text it begins.
 * None for a value that is too short.
 * @hostileText Exported for the test that feeds it.
 */
export function secretSpellings(value: string): readonly Uint8Array[] {
  if (Buffer.byteLength(value) < shortestRedacted) return [];
  const trimmed = value.trim();
  const lines = value.split(/\r\n|[\r\n]/).map((line) => line.trim());
  const texts = [...new Set([value, ...(Buffer.byteLength(trimmed) < shortestRedacted ? [] : [trimmed])])].flatMap(
    spellings,
  );
  const parts = lines.length > 1 ? lines.filter((line) => line.length >= shortestLine) : [];
  return [...new Set([...texts, ...parts])].map((text) => Buffer.from(text));
}

function spellings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const hexadecimal = bytes.toString("hex");
  return [
    text,
    text.toLowerCase(),
    ...percentEncodings.map(({ kept, space }) => percentEncoded(bytes, kept, space)),
    ...[json, ascii, json.replaceAll("/", "\\/")],
    ...[hexadecimal, hexadecimal.toUpperCase()],
    ...base64Spellings(bytes),
  ];
}

function percentEncoded(bytes: Uint8Array, kept: RegExp, space: string): string {
  const encoded = Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    if (byte < 0x80 && kept.test(character)) return character;
    return character === " " ? space : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return encoded.join("");
}

/** By itself, broken into lines, and as it stands after one and after two other bytes; in both alphabets. */
function base64Spellings(bytes: Uint8Array): readonly string[] {
  const whole = Buffer.from(bytes).toString("base64");
  const inside = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/(?<!=)=+$/, "");
    // Characters at the ends that other bytes have a share in say too little, and are not known.
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    return encoded.slice(Math.ceil((before * 8) / 6), end);
  });
  const broken = base64Columns.map((columns) =>
    (inside[0] ?? "").replaceAll(new RegExp(`(.{${columns}})(?=.)`, "g"), "$1\n"),
  );
  const standard = [whole, whole.replace(/(?<!=)=+$/, ""), ...inside, ...broken];
  return [...standard, ...standard.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}
