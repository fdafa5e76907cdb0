import type { ImportedModule } from "./imported-modules.ts";

/** A language that programs can be written in. Everything that differs between languages is a field here or of its runtimes. */
export interface Language {
  /** On the wire. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** What people and models also call it. */
  readonly shortNames: readonly string[];
  /** Name of the code's file when the request gives none. */
  readonly mainFile: string;
  /** Endings of the names of its files, with their dots. */
  readonly endings: readonly string[];
  /** Programs in a first line such as `#!/usr/bin/env python3` that mean it. */
  readonly shebang: RegExp;
  /** Default image of its one-shot runs. */
  readonly image: string;
  /** What can run it, the usual one of one-shot runs first. */
  readonly runtimes: readonly Runtime[];
  /** The usual one of sessions; default: the first. */
  readonly sessionRuntime?: Runtime | undefined;
  /** Where its packages come from; null: it has none. */
  readonly ecosystem: "npm" | "python" | null;
  /** Whether its code may hold a NUL: in strings and comments. */
  readonly allowsNul: boolean;
  /** What a result must tell of code that may mean something else than its author thinks; default: nothing. */
  readonly notices?: ((code: string) => readonly string[]) | undefined;
}

/** What runs programs in a sandbox: an interpreter, and our runner in it. */
export interface Runtime {
  /** On the wire. */
  readonly name: string;
  /** The interpreter's name on the PATH of the sandbox. */
  readonly interpreter: string;
  /** The image of the deployment that has it: that of its language, or that of sessions. */
  readonly image: "language" | "session";
  /** File in `images/runners` that receives the job. */
  readonly runnerFile: string;
  /** Argument vector that starts the runner, which then waits on standard input for the pieces of `encodeJob`. */
  readonly start: (start: StartedRunner) => readonly string[];
  /** Variables of every run, which the request's own override. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether a file must be compiled on the host, because the interpreter does not run it in full by itself. */
  readonly needsCompiling: (path: string) => boolean;
  /** Where a file of the job is not valid, if the interpreter's last words say that this ended the program. */
  readonly findSyntaxError: (report: FailureReport) => SourcePlace | null;
  /** How the interpreter reports a module that it could not import, as the first group of each line; null: it has none. */
  readonly missingModule: RegExp | null;
  /** The modules that a program imports, where its runner can import them while it waits for the next one; null: it cannot. */
  readonly importedModules: ((code: string) => readonly ImportedModule[]) | null;
  /** What keeps the variables of a session's calls; null: nothing does. */
  readonly notebook: Notebook | null;
}

/** The program that goes on between the calls of a session, and runs each in itself. */
export interface Notebook {
  /** Its main file in the folder of its context. */
  readonly main: string;
  /** Files in `images/runners`, by their paths in that folder; the main file is one of them. */
  readonly files: Readonly<Record<string, string>>;
  /** Whether the code of each call must be rewritten, so that what it declares stays. */
  readonly rewritesCode: boolean;
}

/** A runner that is about to start. */
export interface StartedRunner {
  /** Path of the interpreter inside the sandbox, or its name. */
  readonly interpreter: string;
  /** Path of the program's main file. */
  readonly main: string;
  /** Text of the runner. */
  readonly source: string;
  /** A folder of the runner's own, made by it and not there before. */
  readonly runnerFolder: string;
}

/** What is left of a program that failed, for the reader of one interpreter's errors. */
export interface FailureReport {
  /** End of the program's standard error, without blank lines after it. */
  readonly stderr: string;
  /** The job's files by the absolute paths that error messages show. */
  readonly files: ReadonlyMap<string, JobFile>;
}

/** Where a program is not valid in its language (SPEC EX4). */
export interface SourcePlace {
  /** Path as the user gave it, relative to the working folder, such as `main.py`. */
  readonly file: string;
  /** From 1; null where the interpreter does not say. */
  readonly line: number | null;
  /** From 1, in UTF-16 units of the line; null where the interpreter does not say. */
  readonly column: number | null;
  /** The interpreter's own words, without the kind of error. */
  readonly message: string;
}

/** A file of a job, as far as errors show it. */
export interface JobFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** Saves the runner ($3) as the file $2 of the folder $1, which must be new: what lies in one is a former program's. */
export const saveRunner = 'mkdir "$1" && printf %s "$3" >"$1/$2"';
/** Removes the variables that shells add by themselves. */
export const becomeProgram = 'shift 3; unset PWD OLDPWD SHLVL; exec "$@"';
