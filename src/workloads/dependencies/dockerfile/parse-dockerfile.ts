import { checkImageReference } from "../../../policy/image-reference.ts";
import { badDockerfile } from "./dockerfile-error.ts";
import { expandWords, type LookUp } from "./expand-words.ts";
import { splitDockerfile, type Instruction } from "./split-dockerfile.ts";

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
