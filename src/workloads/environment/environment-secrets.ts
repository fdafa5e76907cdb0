import type { GivenSecrets as AllGiven, Redaction } from "../../policy/redaction.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { CommandSpec } from "../program/command-spec.ts";

/** The secrets that a process of an environment gets, and that are removed from its output. */
export interface GivenSecrets {
  readonly secrets: readonly ProgramSecret[];
  readonly redaction: Redaction;
}

/** The secrets of an environment: which processes get them, and which must be redacted. */
export class EnvironmentSecrets {
  readonly #read: () => Promise<readonly ProgramSecret[]>;
  readonly #given: AllGiven;

  /** `read` returns the current values of those for every process; `given` collects all that any process gets. */
  constructor(read: () => Promise<readonly ProgramSecret[]>, given: AllGiven) {
    this.#read = read;
    this.#given = given;
  }

  /**
   * The secrets of a process that is about to start; its own variables and secrets take precedence. @throws what
   * reading them throws
   */
  async giveTo({ environment, secrets: own = [] }: CommandSpec): Promise<GivenSecrets> {
    const taken = new Set([...Object.keys(environment), ...own.map(({ variable }) => variable)]);
    const secrets = [...(await this.#read()).filter(({ variable }) => !taken.has(variable)), ...own];
    this.#given.add(secrets);
    return { secrets, redaction: this.#given.redaction() };
  }

  /** A text that a process may have influenced, such as a host name, without them. */
  text(text: string): string {
    return this.#given.redaction().text(text);
  }
}
