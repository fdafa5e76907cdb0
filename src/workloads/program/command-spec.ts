import type { ProgramSecret } from "../../sandbox/program-secret.ts";

/** A checked command of an environment or a session (SPEC EV2, EV6). */
export interface CommandSpec {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Of the command itself, beside the environment's; default: none. */
  readonly secrets?: readonly ProgramSecret[] | undefined;
  /** Absolute inside. */
  readonly workingDirectory: string;
}

/** One that continues in the background. */
export interface ProcessSpec extends CommandSpec {
  /** TCP ports that it listens on and that can be reached from this machine; each once. */
  readonly ports: readonly number[];
}
