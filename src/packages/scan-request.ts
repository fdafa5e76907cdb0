import type { LanguageName } from "../languages/language-table.ts";
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
