import { posix } from "node:path";
import { badDockerfile, expandWords, atLine, type LookUp, type Instruction } from "./parse-dockerfile.ts";
import { parsePattern } from "./path-pattern.ts";

/** The state between two instructions. */
export interface BuildState {
  /** Variables set by ENV, which the image keeps. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables set by ARG, only for the instructions after it. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly workingDirectory: string;
  /** A name or number, optionally with a group after a colon; `0`: root. */
  readonly user: string;
  /** What a line is given to. */
  readonly shell: readonly string[];
}

/** What an instruction does in the sandbox; null: it only changes the state. */
export type BuildAction =
  | { readonly kind: "run"; readonly command: readonly string[] }
  | {
      readonly kind: "copy";
      readonly sources: readonly string[];
      readonly target: string;
      /** `user` or `user:group`; empty: root. */
      readonly owner: string;
      /** For `chmod`; empty: unchanged. */
      readonly mode: string;
    }
  | { readonly kind: "folder"; readonly path: string }
  | null;

export interface NextStep {
  readonly state: BuildState;
  readonly action: BuildAction;
}

export interface StepContext {
  readonly globals: Readonly<Record<string, string>>;
  /** Variables of the base image. */
  readonly lookUpBase: LookUp;
}

export const firstState: BuildState = {
  environment: {},
  arguments: {},
  workingDirectory: "/",
  user: "0",
  shell: ["/bin/sh", "-c"],
};

/** The effect of an instruction after those before it. Pure. @throws INVALID_REQUEST with its line */
export function nextStep(instruction: Instruction, state: BuildState, context: StepContext): NextStep {
  const { keyword, text, line } = instruction;
  const lookUp: LookUp = (name) => state.environment[name] ?? state.arguments[name] ?? context.lookUpBase(name);
  const words = (): readonly string[] => atLine(line, () => expandWords(text, lookUp));
  switch (keyword) {
    case "RUN":
      return { state, action: { kind: "run", command: jsonWords(text) ?? [...state.shell, text] } };
    case "SHELL":
      return {
        state: { ...state, shell: jsonWords(text) ?? refuse(line, 'SHELL takes a list: ["/bin/sh", "-c"]') },
        action: null,
      };
    case "USER":
      return { state: { ...state, user: checkUser(words().join(" "), line) }, action: null };
    case "WORKDIR": {
      const path = posix.resolve(state.workingDirectory, words().join(" "));
      return { state: { ...state, workingDirectory: path }, action: { kind: "folder", path } };
    }
    case "ENV":
      return { state: { ...state, environment: { ...state.environment, ...pairs(instruction, words) } }, action: null };
    case "ARG":
      return {
        state: { ...state, arguments: { ...state.arguments, ...declared(words(), context.globals) } },
        action: null,
      };
    default:
      return { state, action: copyOf(instruction, state, lookUp) };
  }
}

/** Sources of COPY or ADD as written. @throws INVALID_REQUEST for one that is not a file of the project */
export function copyOf({ keyword, text, line }: Instruction, state: BuildState, lookUp: LookUp): BuildAction & object {
  const options = new Map<string, string>();
  let rest = text;
  for (let match = optionForm.exec(rest); match !== null; match = optionForm.exec(rest)) {
    const [whole, name = "", value = ""] = match;
    if (name !== "chown" && name !== "chmod") throw badDockerfile(line, `${keyword} takes no --${name} here`);
    options.set(name, value);
    rest = rest.slice(whole.length);
  }
  const words = jsonWords(rest) ?? atLine(line, () => expandWords(rest, lookUp));
  const target = words.at(-1) ?? "";
  const sources = words.slice(0, -1);
  if (sources.length === 0) throw badDockerfile(line, `${keyword} takes a source and a target`);
  for (const source of sources) assertOfProject(keyword, source, line);
  const owner = checkUser(options.get("chown") ?? "0:0", line);
  const mode = options.get("chmod") ?? "";
  if (!/^[0-7]{0,4}$/.test(mode)) throw badDockerfile(line, "--chmod takes a number such as 755");
  const slash = target.endsWith("/") || target === "." || sources.length > 1 ? "/" : "";
  const path = posix.resolve(state.workingDirectory, target);
  return { kind: "copy", sources, target: path === "/" ? path : `${path}${slash}`, owner, mode };
}

const optionForm = /^--([a-z]+)(?:=(\S*))?\s*/;

/** What only ADD would fetch or unpack, and paths that lead out of the project. */
function assertOfProject(keyword: string, source: string, line: number): void {
  const shown = JSON.stringify(source.slice(0, 100));
  if (/^[a-z][a-z+.-]*:\/\/|^git@/i.test(source)) {
    throw badDockerfile(line, `${keyword} fetches nothing: ${shown} is no file of the project`);
  }
  if (keyword === "ADD" && /\.(?:tar|tgz|tbz2?|txz|tar\.\w+)$/i.test(source)) {
    throw badDockerfile(line, `ADD unpacks nothing: copy ${shown} and unpack it with RUN`);
  }
  if (parsePattern(source) === null) throw badDockerfile(line, `${shown} leads out of the project`);
}

/** Parses `["a", "b"]`; null if it has another form. */
function jsonWords(text: string): readonly string[] | null {
  if (!text.startsWith("[")) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value) || value.length === 0) return null;
    return value.every((each) => typeof each === "string") ? value : null;
  } catch {
    // A shell line, as in Docker.
    return null;
  }
}

function pairs({ text, line }: Instruction, words: () => readonly string[]): Record<string, string> {
  const [first = "", ...more] = words();
  // The old form: ENV NAME the rest of the line.
  if (!/^[A-Za-z_][\w.-]*=/.test(text)) return { [checkName(first, line)]: more.join(" ") };
  return Object.fromEntries(
    [first, ...more].map((word) => {
      const [name = "", ...value] = word.split("=");
      return [checkName(name, line), value.join("=")];
    }),
  );
}

function declared(words: readonly string[], globals: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    words.flatMap((word) => {
      const [name = "", ...value] = word.split("=");
      if (value.length > 0) return [[name, value.join("=")]];
      return Object.hasOwn(globals, name) ? [[name, globals[name] ?? ""]] : [];
    }),
  );
}

function checkName(name: string, line: number): string {
  return /^[A-Za-z_][\w.-]{0,200}$/.test(name) ? name : refuse(line, "ENV takes NAME=value");
}

function checkUser(user: string, line: number): string {
  return /^[\w.-]{1,64}(?::[\w.-]{1,64})?$/.test(user)
    ? user
    : refuse(line, "a user is a name or number, with a group after a colon or none");
}

function refuse(line: number, problem: string): never {
  throw badDockerfile(line, problem);
}
