import type { Alert as WireAlert } from "../platform/platform.ts";
import { camelName, type Camel } from "./objects/forms/camel.ts";
import { openEmbeddedCaller, type EmbeddedOptions } from "./embedded-caller.ts";
import { Glovebox } from "./objects/glovebox.ts";

/** Something about a sandbox that its owner should know while it goes on. */
export type Alert = Camel<WireAlert>;

/** Options of the embedded Glovebox; everything else comes from the environment and the configuration file. */
export interface GloveboxOptions extends Omit<EmbeddedOptions, "onAlert"> {
  /** Receives the alerts of every sandbox. Not waited for. */
  readonly onAlert?: ((alert: Alert) => void) | undefined;
  /** Programs that do not end well throw `ProgramError`; default false. Each call can say otherwise. */
  readonly throwOnError?: boolean | undefined;
}

/**
 * Opens Glovebox in this process: no server, no daemon of its own. Nothing is started before the first call.
 * @throws INVALID_REQUEST when the configuration is not valid, or there is no engine of that name
 */
export async function createGlovebox(options: GloveboxOptions = {}): Promise<Glovebox> {
  const { throwOnError, onAlert, ...embedded } = options;
  const caller = await openEmbeddedCaller({
    ...embedded,
    onAlert: onAlert === undefined ? undefined : (alert) => onAlert(alertOf(alert)),
  });
  return new Glovebox({ ...caller, throwOnError });
}

/** An alert has no fields within fields. */
function alertOf(alert: WireAlert): Alert {
  return Object.fromEntries(Object.entries(alert).map(([name, value]) => [camelName(name), value])) as unknown as Alert;
}
