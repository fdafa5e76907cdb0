import type { LanguageName } from "../languages/language-table.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { packageName, type Ecosystem } from "../policy/install-policy.ts";

/** A file of the program; its path is relative to the program's folder, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly content: string;
}

/** What the scanning process is given on its standard input, as JSON. */
export interface ScanRequest {
  readonly language: LanguageName;
  /** Files to look into. */
  readonly files: readonly SourceFile[];
  /** Paths of all the program's files. */
  readonly paths: readonly string[];
  /** Path of the file that the program begins with. */
  readonly main: string;
}

/** What a program imports, as specifications to install: sorted, each once in one of both lists. */
export interface ImportedPackages {
  /** What its main file imports whenever it runs. */
  readonly needed: readonly string[];
  /** What it may do without: imports under a condition, in functions, in `try`, and those of its other files. */
  readonly optional: readonly string[];
}

/** After this many failed installations, no optional package is tried again. */
const maxTries = 3;

/** Which imported packages are left out, because they cannot be installed and the program may do without. */
export class OptionalPackages {
  readonly #ecosystem: Ecosystem;
  readonly #without = new Set<string>();
  readonly #notes: string[] = [];
  #tries = 0;

  constructor(ecosystem: Ecosystem) {
    this.#ecosystem = ecosystem;
  }

  /** What the result must report, one sentence for each failure. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** Those that remain to be installed. */
  specsOf({ needed, optional }: ImportedPackages): readonly string[] {
    return [...needed, ...optional.filter((spec) => !this.#without.has(spec))].toSorted();
  }

  /** Leaves out those at fault for the error, so that fewer can be tried; false when it concerns what the program needs. */
  leaveOut(error: unknown, { needed, optional }: ImportedPackages): boolean {
    if (!isRefusal(error)) return false;
    this.#tries += 1;
    const left = optional.filter((spec) => !this.#without.has(spec));
    const without = this.#tries < maxTries ? atFault(error, { needed, optional: left }, this.#ecosystem) : left;
    if (without.length === 0) return false;
    for (const spec of without) this.#without.add(spec);
    this.#notes.push(`Without ${without.join(", ")}, which the program may not need. ${error.message}`);
    return true;
  }
}

/** The error of imported packages that cannot be left out: a failed installation tells how to run without any. */
export function withWayOut(error: unknown, { needed, optional }: ImportedPackages): unknown {
  const isOfImports = needed.length + optional.length > 0;
  if (!isOfImports || !(error instanceof GloveboxError) || error.errorType !== "PACKAGE_INSTALL_FAILED") return error;
  const { errorType, message, suggestion, context, cause } = error;
  return new GloveboxError(errorType, message, { suggestion: `${suggestion} ${wayOut}`, context, cause });
}

const wayOut = "To run the code without installing what it imports, use packages: [].";

function isRefusal(error: unknown): error is GloveboxError {
  return (
    error instanceof GloveboxError &&
    (error.errorType === "PACKAGE_INSTALL_FAILED" ||
      (error.errorType === "POLICY_DENIED" && error.context["field"] === "packages"))
  );
}

function atFault(
  { context }: GloveboxError,
  { needed, optional }: ImportedPackages,
  ecosystem: Ecosystem,
): readonly string[] {
  // If a registry does not answer, the others cannot be installed either.
  if (context["retryable"] === true) return needed.length === 0 ? optional : [];
  const { packages, package: single } = context;
  const said: readonly unknown[] = Array.isArray(packages) ? packages : [single];
  const names = new Set(said.map((spec) => packageName(String(spec), ecosystem)));
  const isNamed = (spec: string): boolean => names.has(packageName(spec, ecosystem));
  const named = optional.filter(isNamed);
  if (!needed.some(isNamed)) return named.length > 0 ? named : optional;
  // All of them: the tool does not say which it was.
  return named.length === optional.length ? optional : [];
}
