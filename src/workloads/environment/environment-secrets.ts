import type { GivenSecrets as AllGiven } from "../../policy/redaction/given-secrets.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import type { ProgramSecret } from "../../sandbox/secrets/program-secret.ts";
import type { CommandSpec } from "../program/command-spec.ts";

/** What a process of an environment gets, and what is taken out of its output. */
export interface GivenSecrets {
  readonly secrets: readonly ProgramSecret[];
  readonly redaction: Redaction;
}

/** The secrets of an environment: who gets them, and what must not show. */
export class EnvironmentSecrets {
  readonly #read: () => Promise<readonly ProgramSecret[]>;
  readonly #given: AllGiven;

  /** `read` gives those of every process, as their sources have them now; `given` keeps all that any process gets. */
  constructor(read: () => Promise<readonly ProgramSecret[]>, given: AllGiven) {
    this.#read = read;
    this.#given = given;
  }

  /** Those of a process that is about to start; its own variables and secrets win. @throws what reading them throws */
  async giveTo({ environment, secrets: own = [] }: CommandSpec): Promise<GivenSecrets> {
    const taken = new Set([...Object.keys(environment), ...own.map(({ variable }) => variable)]);
    const secrets = [...(await this.#read()).filter(({ variable }) => !taken.has(variable)), ...own];
    this.#given.add(secrets);
    return { secrets, redaction: this.#given.redaction() };
  }

  /** A text that a process had a part in, such as a host's name, without them. */
  text(text: string): string {
    return this.#given.redaction().text(text);
  }
}
