import type { NamedSecret } from "../policy/redaction.ts";

/** A secret on its way to a program: it goes over the runner's standard input and nowhere else. */
export interface ProgramSecret extends NamedSecret {
  /** The program's environment variable that holds the value. */
  readonly variable: string;
}
