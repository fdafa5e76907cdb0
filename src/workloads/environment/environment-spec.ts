import type { MountIdentity } from "../../engines/container-spec.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { ToolingFilesMode } from "../../policy/tooling-files.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { Settings } from "../run/settings.ts";
import type { GivenSecrets as AllGiven, Redaction } from "../../policy/redaction.ts";
import type { CommandSpec } from "../program/command-spec.ts";

/** Where an environment's project is, and where commands start. */
export const projectFolder = "/workdir";

/** A checked environment (SPEC EV1); every value is within the policy already. Its time limit is the default for commands. */
export interface EnvironmentSpec extends Settings {
  readonly id: string;
  readonly image: string;
  readonly imageOrigin: ImageOrigin;
  /** Commands that prepare the image, each a program and its arguments; empty for none. */
  readonly setupCommands: readonly (readonly string[])[];
  /** Run once after those, as the user of all commands, with the project writable. */
  readonly installCommands: readonly (readonly string[])[];
  /** Null: `/workdir` is an empty folder that belongs to the environment. */
  readonly project: Project | null;
  /** How to treat the files through which the project runs code on its owner's machine (SPEC MO2). */
  readonly toolingFiles: ToolingFilesMode;
  /** Paths of the project that count as such in addition to the built-in ones. */
  readonly toolingPaths: readonly string[];
  /** Whether the image's files are read-only, with scratch to write to. */
  readonly readOnlyRoot: boolean;
  /** Reads the current values of the secrets for every command and background process. */
  readonly readSecrets: () => Promise<readonly ProgramSecret[]>;
}

/** A folder of this machine, held open while the environment exists. */
export interface Project {
  readonly place: OpenPlace;
  /** Of the place that was checked. */
  readonly identity: MountIdentity;
  readonly readOnly: boolean;
}

/** The secrets that a process of an environment gets, and that are removed from its output. */
interface GivenSecrets {
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
