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
