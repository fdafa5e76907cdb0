import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { CopySettings } from "../dependencies/project-sandbox.ts";

/** A checked preview (SPEC PV1); every value is within the policy already. Its time limit begins with the command. */
export interface PreviewSpec extends CopySettings {
  /** The project's folder on this machine, held open; it is only read, never written. The preview closes it. */
  readonly project: OpenPlace;
  /** The shell line that starts the server. */
  readonly command: string;
  /** TCP port that it listens on, as far as is known: where it listens elsewhere, that port is followed. */
  readonly port: number;
  /** Whether the caller named that port. */
  readonly isPortNamed: boolean;
  /** For the command: installations do not get them. */
  readonly secrets: readonly ProgramSecret[];
}
