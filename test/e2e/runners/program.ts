/** A small program to run both natively and through a runner. */
export interface Program {
  /** Text of the main file. */
  readonly code: string;
  /** Files next to it, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  readonly stdin?: string;
  readonly environment?: Readonly<Record<string, string>>;
}
