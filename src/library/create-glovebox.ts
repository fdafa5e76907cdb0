import type { Alert as WireAlert } from "../platform/platform.ts";
import { nearest } from "../base/nearest.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { openEmbeddedCaller, type EmbeddedOptions } from "./embedded-caller.ts";
import type { GloveboxOptions } from "./glovebox-options.ts";
import { camelName } from "./objects/camel.ts";
import type { Alert } from "./objects/generated/results.ts";
import { Glovebox } from "./objects/glovebox.ts";

const optionNames: Readonly<Record<keyof GloveboxOptions, true>> = {
  engine: true,
  settings: true,
  configFile: true,
  workingDirectory: true,
  throwOnError: true,
  onAlert: true,
  logger: true,
};

/**
 * Opens Glovebox in this process, without a server or daemon. Nothing is started before the first call.
 *
 * End it with `close()` or `await using`: that removes every sandbox it created, and only then can the process exit.
 * @throws INVALID_REQUEST for an unknown option, an invalid configuration or an unknown engine
 */
export async function createGlovebox(options: GloveboxOptions = {}): Promise<Glovebox> {
  refuseUnknown(options);
  const { throwOnError, onAlert, settings, ...embedded } = options;
  const caller = await openEmbeddedCaller({
    ...embedded,
    settings: settings as EmbeddedOptions["settings"],
    configFileGivenBy: "option configFile",
    placeOfSetting: (key) => `option settings.${key}`,
    onAlert: onAlert === undefined ? undefined : (alert) => onAlert(alertOf(alert)),
  });
  return new Glovebox({ ...caller, throwOnError });
}

/** A misspelt option would silently do nothing, where types are not checked. */
function refuseUnknown(options: GloveboxOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
  if (unknown === undefined) return;
  const meant = nearest(unknown, Object.keys(optionNames));
  throw new GloveboxError("INVALID_REQUEST", `createGlovebox has no option ${unknown}.`, {
    suggestion: meant === null ? "docs/library.md lists the options." : `Did you mean ${meant}?`,
  });
}

/** The fields of alerts are all plain values. */
function alertOf(alert: WireAlert): Alert {
  return Object.fromEntries(Object.entries(alert).map(([name, value]) => [camelName(name), value])) as unknown as Alert;
}
