import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { checkImageReference } from "../../../policy/image-reference.ts";

/** A Dockerfile that cannot be built as it is: `problem` continues a sentence after "line 3". */
export function badDockerfile(line: number, problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `Dockerfile of the project, line ${line}: ${problem}.`, {
    suggestion: "Correct it (docs/tests.md lists what is built), or leave `dockerfile` out and name an `image`.",
    context: { field: "dockerfile", line },
  });
}

/** Values of variables; undefined: not set. */
export type LookUp = (name: string) => string | undefined;

/** Words with quotes removed and variables replaced. @throws Error saying what is not understood */
export function expandWords(text: string, lookUp: LookUp): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    word ??= "";
    if (character === quote) quote = null;
    else if (quote === null && (character === '"' || character === "'")) quote = character;
    else if (character === "\\" && quote !== "'") word += text.charAt((at += 1));
    else if (character === "$" && quote !== "'") {
      const variable = variableAt(text, at, lookUp);
      word += variable.value;
      at = variable.end;
    } else word += character;
  }
  if (quote !== null) throw new Error(`a quotation mark (${quote}) has no end`);
  return word === null ? words : [...words, word];
}

const form = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::([-+])([^${}]*))?\})/y;

/** One instruction as written, joined into one line. */
export interface Instruction {
  /** In upper case. */
  readonly keyword: string;
  readonly text: string;
  /** Line where it begins, from 1. */
  readonly line: number;
}

/**
 * Splits a Dockerfile in one pass over its lines: comments are removed, lines that end in a backslash are joined.
 * Linear in its length, since the text is untrusted. @throws INVALID_REQUEST for another escape character and for
 * here-documents
 * @hostileText Exported for the test that feeds it.
 */
export function splitDockerfile(text: string): readonly Instruction[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  assertBackslash(lines);
  const found: Instruction[] = [];
  let parts: string[] = [];
  let start = 0;
  for (const [index, whole] of lines.entries()) {
    const line = whole.trim();
    // Empty lines and comments between the parts of an instruction do not end it.
    if (line === "" || line.startsWith("#")) continue;
    if (parts.length === 0) start = index + 1;
    const goesOn = line.endsWith("\\");
    // All white space before the rest of an instruction separates it from the keyword.
    const part = parts.length === 0 ? line : whole.trimEnd();
    parts.push(goesOn ? part.slice(0, -1) : part);
    if (goesOn) continue;
    found.push(instructionOf(parts.join(""), start));
    parts = [];
  }
  if (parts.length > 0) found.push(instructionOf(parts.join(""), start));
  return found;
}

/** A Dockerfile that can be built: its base, and the instructions on top of it, in order. */
export interface Dockerfile {
  readonly base: string;
  /** Values of the arguments before FROM, which an ARG after it may use. */
  readonly globals: Readonly<Record<string, string>>;
  readonly steps: readonly Instruction[];
}

const maxSteps = 200;

/** They define how an image is started or described; a test run starts it in its own way. */
const withoutEffect = new Set([
  ...["CMD", "ENTRYPOINT", "EXPOSE", "LABEL", "MAINTAINER", "STOPSIGNAL", "HEALTHCHECK", "VOLUME"],
]);
const withEffect = new Set(["RUN", "COPY", "ADD", "ENV", "ARG", "WORKDIR", "USER", "SHELL"]);

/**
 * Parses a single-stage Dockerfile. Unsupported instructions are refused rather than skipped: results from an
 * incomplete image would be worse than none. Pure.
 * @throws INVALID_REQUEST with the line
 */
export function parseDockerfile(text: string): Dockerfile {
  const instructions = splitDockerfile(text);
  const from = instructions.findIndex(({ keyword }) => keyword === "FROM");
  const first = instructions[from];
  if (first === undefined) throw badDockerfile(1, "it has no FROM");
  const before = instructions.slice(0, from);
  const other = before.find(({ keyword }) => keyword !== "ARG");
  if (other !== undefined) throw badDockerfile(other.line, `${shown(other.keyword)} stands before FROM`);
  const steps = instructions.slice(from + 1).filter(({ keyword }) => !withoutEffect.has(keyword));
  for (const step of steps) assertSupported(step);
  if (steps.length > maxSteps)
    throw badDockerfile(1, `it has ${steps.length} instructions, of which ${maxSteps} may be`);
  const globals = globalsOf(before);
  return { base: baseOf(first, (name) => globals.get(name)), globals: Object.fromEntries(globals), steps };
}

/** The result of `read`; its errors are reported with the line. @throws INVALID_REQUEST */
export function atLine<T>(line: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw badDockerfile(line, error instanceof Error ? error.message : String(error));
  }
}

function shown(word: string): string {
  return JSON.stringify(word.slice(0, 60));
}

/** The variable that begins at a position, and where it ends. */
function variableAt(text: string, start: number, lookUp: LookUp): { readonly value: string; readonly end: number } {
  form.lastIndex = start;
  const match = form.exec(text);
  if (match === null) {
    if (text.charAt(start + 1) === "{")
      throw new Error("of ${...}, only ${NAME}, ${NAME:-word} and ${NAME:+word} are known");
    return { value: "$", end: start };
  }
  const [whole, plain, braced = "", how, word = ""] = match;
  const value = lookUp(plain ?? braced) ?? "";
  const end = start + whole.length - 1;
  if (how === "-") return { value: value === "" ? word : value, end };
  if (how === "+") return { value: value === "" ? "" : word, end };
  return { value, end };
}

/** The directives at the top of the file; one that names a frontend is ignored, since none is ever fetched. */
function assertBackslash(lines: readonly string[]): void {
  for (const [index, line] of lines.entries()) {
    const directive = /^#\s*([A-Za-z]+)\s*=\s*(\S*)/.exec(line.trim().slice(0, 200));
    if (directive === null) return;
    if (directive[1]?.toLowerCase() === "escape" && directive[2] !== "\\") {
      throw badDockerfile(index + 1, "another escape character than the backslash is not supported");
    }
  }
}

function instructionOf(whole: string, line: number): Instruction {
  const end = whole.search(/\s/);
  const keyword = (end === -1 ? whole : whole.slice(0, end)).toUpperCase();
  const text = end === -1 ? "" : whole.slice(end).trim();
  if (["RUN", "COPY", "ADD"].includes(keyword) && /(?<!<)<<-?["']?[A-Za-z_]/.test(text)) {
    throw badDockerfile(line, "here-documents are not supported; write a script into the project and run it");
  }
  return { keyword, text, line };
}

function assertSupported({ keyword, text, line }: Instruction): void {
  if (keyword === "FROM") throw badDockerfile(line, "it has a second FROM, and stages are not supported");
  if (keyword === "ONBUILD") throw badDockerfile(line, "ONBUILD is not supported");
  if (!withEffect.has(keyword)) throw badDockerfile(line, `${shown(keyword)} is no instruction that is known`);
  if (text === "") throw badDockerfile(line, `${keyword} has nothing after it`);
  // Mounts of secrets, of the host's SSH agent or of shared caches; another network; more privileges.
  if (keyword === "RUN" && text.startsWith("--")) {
    throw badDockerfile(line, `RUN takes no options here, and it has ${shown(text.split(/\s/, 1)[0] ?? "")}`);
  }
}

function globalsOf(before: readonly Instruction[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const { text, line } of before) {
    for (const word of atLine(line, () => expandWords(text, (name) => values.get(name)))) {
      const [name = "", ...rest] = word.split("=");
      if (rest.length > 0) values.set(name, rest.join("="));
    }
  }
  return values;
}

function baseOf({ text, line }: Instruction, lookUp: LookUp): string {
  const [image = "", as, name, ...more] = atLine(line, () => expandWords(text, lookUp));
  if (image.startsWith("--")) throw badDockerfile(line, "FROM takes no options here");
  if (image === "scratch") throw badDockerfile(line, "an image without anything in it can run no program");
  const isNamed = as?.toUpperCase() === "AS" && name !== undefined && more.length === 0;
  if (as !== undefined && !isNamed) throw badDockerfile(line, "FROM takes an image, and a name after AS");
  return checkImageReference(image, `the FROM of the project's Dockerfile`);
}
