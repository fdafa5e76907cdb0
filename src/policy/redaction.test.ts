import { describe, expect, it } from "vitest";
import { Redaction, PatternAutomaton, Redactor, GivenSecrets } from "./redaction.ts";

const value = "sk-Test/9+AbC ~'\"ß\\x!";
const bytes = Buffer.from(value);
const redaction = (): Redaction => new Redaction([{ name: "KEY", value }]);

describe("Redaction", () => {
  const base64 = (before: string, after: string): string => Buffer.from(before + value + after).toString("base64");
  it.each([
    ["itself", value],
    ["lower case", value.toLowerCase()],
    ["encodeURIComponent", encodeURIComponent(value)],
    ["URLSearchParams", new URLSearchParams({ k: value }).toString().slice(2)],
    ["Python's quote", "sk-Test/9%2BAbC%20~%27%22%C3%9F%5Cx%21"],
    ["Python's quote_plus", "sk-Test%2F9%2BAbC+~%27%22%C3%9F%5Cx%21"],
    ["JSON", JSON.stringify(value).slice(1, -1)],
    ["JSON in ASCII", "sk-Test/9+AbC ~'\\\"\\u00df\\\\x!"],
    ["hexadecimal", bytes.toString("hex")],
    ["HEXADECIMAL", bytes.toString("hex").toUpperCase()],
    ["base64", bytes.toString("base64")],
    ["base64url", bytes.toString("base64url")],
  ])("takes out %s, whole", (_, text) => {
    expect(redaction().text(`<${text}>`)).toBe("<[redacted:KEY]>");
  });

  it.each([
    ["", ""],
    ["", "y"],
    ["", "yz"],
    ["u", ""],
    ["u", "yz"],
    ["uv", ""],
    ["user:", "\n"],
    ["uv", "y"],
  ])("takes it out of base64 of %j and it and %j, save bits at the ends", (before, after) => {
    const text = redaction().text(base64(before, after));
    expect(text).toContain("[redacted:KEY]");
    const [head = "", tail = ""] = text.split("[redacted:KEY]");
    expect(head.length).toBeLessThanOrEqual(Math.ceil((before.length * 8) / 6));
    expect(tail.length).toBeLessThanOrEqual(4 + Math.ceil((after.length * 8) / 6));
  });

  it.each([76, 64])("takes out base64 that is broken after %i columns", (columns) => {
    const long = "0123456789abcdef".repeat(12);
    const text = Buffer.from(`${long}\n`)
      .toString("base64")
      .replaceAll(new RegExp(`(.{${columns}})`, "g"), "$1\n");
    const redacted = new Redaction([{ name: "LONG", value: long }]).text(text);
    expect(redacted).toMatch(/^\[redacted:LONG\]\n?.{0,4}\n?$/);
  });

  it("takes out the long lines of a value of many lines, each by itself", () => {
    const key = "-----BEGIN KEY-----\r\nMIIEvQIBADANBgkqhkiG\r\nab\r\n-----END KEY-----\r\n";
    const pem = new Redaction([{ name: "PEM", value: key }]);
    expect(pem.text("line 1: MIIEvQIBADANBgkqhkiG, line 2: ab")).toBe("line 1: [redacted:PEM], line 2: ab");
    expect(pem.text(key.trim())).toBe("[redacted:PEM]");
  });

  it("tells which values it found", () => {
    const both = new Redaction([
      { name: "B", value: "bbbbbb-secret" },
      { name: "A", value: "aaaaaa-secret" },
      { name: "C", value: "cccccc-secret" },
    ]);
    expect(both.found).toEqual([]);
    both.text("bbbbbb-secret aaaaaa-secret");
    expect(both.found).toEqual(["A", "B"]);
  });

  it("does not look for values of fewer than six bytes, and tells their names", () => {
    const short = new Redaction([
      { name: "PIN", value: "12345" },
      { name: "KEY", value: "123456" },
    ]);
    expect(short.tooShort).toEqual(["PIN"]);
    expect(short.text("12345 123456")).toBe("12345 [redacted:KEY]");
  });

  it("passes on the very same bytes and text without secrets", () => {
    const none = new Redaction([]);
    const given = Buffer.from("text");
    expect(none.bytes(given)).toBe(given);
    expect(none.stream()).toBeNull();
  });
});

const automatonOf = (patterns: readonly string[], name = "X"): PatternAutomaton =>
  new PatternAutomaton(patterns.map((text) => ({ bytes: Buffer.from(text), name })));

/** What comes out of each write, and at the end. */
function redact(automaton: PatternAutomaton, pieces: readonly Uint8Array[]): readonly string[] {
  const redactor = new Redactor(automaton, () => undefined);
  return [...pieces.map((piece) => redactor.write(piece)), redactor.end()].map((out) =>
    Buffer.from(out).toString("latin1"),
  );
}

/** The same by brute force: every occurrence of every pattern, overlapping ones as one. */
function expected(patterns: readonly string[], text: string): string {
  const found = patterns.flatMap((pattern) =>
    Array.from(text, (_, from) => ({ from, to: from + pattern.length })).filter(({ from }) =>
      text.startsWith(pattern, from),
    ),
  );
  const spans: { from: number; to: number }[] = [];
  for (const { from, to } of found.toSorted((a, b) => a.from - b.from)) {
    const last = spans.at(-1);
    if (last !== undefined && from < last.to) last.to = Math.max(last.to, to);
    else spans.push({ from, to });
  }
  return spans.reduceRight((rest, { from, to }) => `${rest.slice(0, from)}[redacted:X]${rest.slice(to)}`, text);
}

/** Length of the longest end of a text that begins a pattern and is not all of it. */
function longestBeginning(patterns: readonly string[], text: string): number {
  const lengths = patterns.flatMap((pattern) => Array.from(pattern, (_, length) => length));
  return Math.max(
    0,
    ...lengths.filter((length) => patterns.some((p) => p.length > length && text.endsWith(p.slice(0, length)))),
  );
}

/** A generator of numbers below a bound that is the same in each run. */
function randomBelow(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

describe("Redactor", () => {
  it("agrees with brute force on random patterns, texts and cuts, and holds back no byte too many or too long", () => {
    const below = randomBelow(7);
    const word = (length: number): string => Array.from({ length }, () => "abc"[below(3)]).join("");
    let withMatches = 0;
    for (let round = 0; round < 1_000; round++) {
      const patterns = Array.from({ length: 1 + below(5) }, () => word(1 + below(6)));
      const text = word(below(60));
      const redactor = new Redactor(automatonOf(patterns), () => undefined);
      let out = "";
      for (let at = 0; at < text.length;) {
        const end = at + 1 + below(8);
        out += Buffer.from(redactor.write(Buffer.from(text.slice(at, end)))).toString();
        at = end;
        const soFar = text.slice(0, end);
        const wanted = expected(patterns, soFar);
        expect(wanted.slice(0, out.length), `${patterns.join(" ")} in ${soFar}`).toBe(out);
        // A name stands for at least one byte.
        const held = wanted.slice(out.length).replaceAll("[redacted:X]", "*").length;
        expect(held).toBeLessThanOrEqual(longestBeginning(patterns, soFar));
      }
      out += Buffer.from(redactor.end()).toString();
      const wanted = expected(patterns, text);
      expect(out, `${patterns.join(" ")} in ${text}`).toBe(wanted);
      if (wanted !== text) withMatches++;
    }
    expect(withMatches).toBeGreaterThan(500);
  });

  it("finds a value cut at every place, and between the bytes of a character", () => {
    const secret = "geheim-ß漢🙂-x";
    const bytes = Buffer.from(`a ${secret} b`);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const out = redact(automatonOf([secret]), [bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(out.join("")).toBe("a [redacted:X] b");
    }
    const singly = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(redact(automatonOf([secret]), singly).join("")).toBe("a [redacted:X] b");
  });

  it("lets out at once what cannot be the beginning of a value, and the name as soon as the value is complete", () => {
    const pieces = ["line\n", "prompt s", "ecr", "et1", " more", " se"].map((text) => Buffer.from(text));
    expect(redact(automatonOf(["secret1"]), pieces)).toEqual([
      "line\n",
      "prompt ",
      "",
      "[redacted:X]",
      " more",
      " ",
      "se",
    ]);
  });

  it("does not wait for a longer pattern to tell of the shorter one that is there", () => {
    const pieces = ["abc", "def", "abc", "d!"].map((text) => Buffer.from(text));
    expect(redact(automatonOf(["abc", "abcdef"]), pieces)).toEqual(["[redacted:X]", "", "[redacted:X]", "d!", ""]);
  });

  it("tells two values side by side apart, and names the first of two that overlap", () => {
    const automaton = new PatternAutomaton([
      { name: "ONE", bytes: Buffer.from("first--") },
      { name: "TWO", bytes: Buffer.from("--second") },
    ]);
    const found: string[] = [];
    const redactor = new Redactor(automaton, (name) => found.push(name));
    expect(Buffer.from(redactor.write(Buffer.from("first----second first--second!"))).toString()).toBe(
      "[redacted:ONE][redacted:TWO] [redacted:ONE]!",
    );
    expect(found).toEqual(["ONE", "TWO", "ONE"]);
  });

  it("leaves bytes that are no text as they are, and keeps none of its producer's buffers", () => {
    const noise = Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 7) % 256));
    const redactor = new Redactor(automatonOf(["zz-secret-zz"]), () => undefined);
    const reused = Buffer.from("zz-sec");
    const first = redactor.write(reused);
    reused.fill(0);
    const rest = [redactor.write(noise), redactor.end()];
    expect(Buffer.concat([first, ...rest])).toEqual(Buffer.concat([Buffer.from("zz-sec"), noise]));
  });

  it("passes a chunk without anything suspicious on as it is, without a copy", () => {
    const chunk = Buffer.from("nothing here\n");
    expect(new Redactor(automatonOf(["secret1"]), () => undefined).write(chunk).buffer).toBe(chunk.buffer);
  });

  it("takes steps in proportion to the input, also where every byte nearly completes a pattern", () => {
    const almost = `${"a".repeat(4_000)}b`;
    const automaton = automatonOf([almost, `${"a".repeat(3_000)}c`]);
    let steps = 0;
    const original = automaton.next.bind(automaton);
    automaton.next = (state, byte) => {
      steps++;
      return original(state, byte);
    };
    const text = "a".repeat(200_000);
    expect(redact(automaton, [Buffer.from(text)]).join("")).toBe(text);
    expect(steps).toBe(200_000);
  });
});

describe("GivenSecrets", () => {
  it("takes out all that were given until now, a name's former values too", () => {
    const given = new GivenSecrets();
    given.add([{ name: "TOKEN", value: "first-value" }]);
    const before = given.redaction();
    given.add([
      { name: "TOKEN", value: "second-value" },
      { name: "KEY", value: "key-value" },
    ]);
    const said = "first-value second-value key-value";
    expect(before.text(said)).toBe("[redacted:TOKEN] second-value key-value");
    expect(given.redaction().text(said)).toBe("[redacted:TOKEN] [redacted:TOKEN] [redacted:KEY]");
  });

  it("takes out nothing while there are none", () => {
    expect(new GivenSecrets().redaction().text("first-value")).toBe("first-value");
  });
});
