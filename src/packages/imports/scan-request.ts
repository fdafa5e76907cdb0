import type { Language } from "../../policy/language.ts";

/** A file of the program; its path is relative to the program's folder, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly content: string;
}

/** What the scanning process is given on its standard input, as JSON. */
export interface ScanRequest {
  readonly language: Language;
  /** Files to look into. */
  readonly files: readonly SourceFile[];
  /** Paths of all the program's files. */
  readonly paths: readonly string[];
}
