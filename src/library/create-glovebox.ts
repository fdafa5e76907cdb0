import type { Alert as WireAlert } from "../platform/platform.ts";
import { openEmbeddedCaller, type EmbeddedOptions } from "./embedded-caller.ts";
import type { GloveboxOptions } from "./glovebox-options.ts";
import { camelName } from "./objects/forms/camel.ts";
import type { Alert } from "./objects/generated/results.ts";
import { Glovebox } from "./objects/glovebox.ts";

/**
 * Opens Glovebox in this process: no server, no daemon of its own. Nothing is started before the first call.
 *
 * End it with `close()` or `await using`: that removes every sandbox that it made, and only then can the process end.
 * @throws INVALID_REQUEST when the configuration is not valid, or there is no engine of that name
 */
export async function createGlovebox(options: GloveboxOptions = {}): Promise<Glovebox> {
  const { throwOnError, onAlert, settings, ...embedded } = options;
  const caller = await openEmbeddedCaller({
    ...embedded,
    settings: settings as EmbeddedOptions["settings"],
    placeOfSetting: (key) => `option settings.${key}`,
    onAlert: onAlert === undefined ? undefined : (alert) => onAlert(alertOf(alert)),
  });
  return new Glovebox({ ...caller, throwOnError });
}

/** An alert has no fields within fields. */
function alertOf(alert: WireAlert): Alert {
  return Object.fromEntries(Object.entries(alert).map(([name, value]) => [camelName(name), value])) as unknown as Alert;
}
