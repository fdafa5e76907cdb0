import { Redaction } from "../../policy/redaction/redaction.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { CommandSpec } from "../program/command-spec.ts";

/** What a process of an environment gets, and what is taken out of its output. */
export interface GivenSecrets {
  readonly secrets: readonly ProgramSecret[];
  readonly redaction: Redaction;
}

/**
 * The secrets of an environment. What one process was given another may find, in a file or a process list: so all that
 * were given until now are taken out of what each process writes.
 */
export class EnvironmentSecrets {
  readonly #read: () => Promise<readonly ProgramSecret[]>;
  readonly #given = new Map<string, ProgramSecret>();

  /** `read` gives those of every process, as their sources have them now. */
  constructor(read: () => Promise<readonly ProgramSecret[]>) {
    this.#read = read;
  }

  /** Those of a process that is about to start; its own variables and secrets win. @throws what reading them throws */
  async giveTo({ environment, secrets: own = [] }: CommandSpec): Promise<GivenSecrets> {
    const taken = new Set([...Object.keys(environment), ...own.map(({ variable }) => variable)]);
    const secrets = [...(await this.#read()).filter(({ variable }) => !taken.has(variable)), ...own];
    for (const secret of secrets) this.#given.set(JSON.stringify([secret.name, secret.value]), secret);
    return { secrets, redaction: this.#redaction() };
  }

  /** A text that a process had a part in, such as a host's name, without them. */
  text(text: string): string {
    return this.#redaction().text(text);
  }

  #redaction(): Redaction {
    return new Redaction([...this.#given.values()]);
  }
}
