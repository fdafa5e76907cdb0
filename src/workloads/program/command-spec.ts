/** A checked command of an environment or a session (SPEC EV2, EV6). */
export interface CommandSpec {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute inside. */
  readonly workingDirectory: string;
}

/** One that goes on in the background. */
export interface ProcessSpec extends CommandSpec {
  /** TCP ports that it listens on and that are to be reached from this machine; each once. */
  readonly ports: readonly number[];
}
