import { agentVariables } from "../policy/agent-variable-table.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { readUpstreamProxy, variablesWithPasswords } from "../policy/network/upstream-proxy.ts";
import { checkEnvironment } from "../policy/request/environment.ts";
import { boundByCeilings } from "./ceiling-problems.ts";
import type { ConfigSource, LoadedConfig } from "./config.ts";
import { environmentLayer, unknownVariables } from "./layers/environment-layer.ts";
import { readFileLayer, type FileOptions } from "./layers/file-layer.ts";
import { flagLayer, type ConfigFlags } from "./layers/flag-layer.ts";
import { engineVariables, pickVariables } from "./host/host-variables.ts";
import { layerProblems } from "./layers/layer-problems.ts";
import type { Layer } from "./layers/layer.ts";
import { nest, settingsKeys, valueAt } from "./layers/settings-keys.ts";
import { parseSettings } from "./settings-schema.ts";

export interface LoadConfigOptions extends FileOptions {
  readonly flags?: ConfigFlags | undefined;
  /** Describes where a flag gave the value of a key; default: on the command line. */
  readonly placeOfFlag?: Layer["placeOf"] | undefined;
}

/**
 * The configuration of this process: flags, else environment, else file, else defaults, for each key (SPEC CF1). It
 * does not include the settings of single calls.
 * @throws INVALID_REQUEST naming every unknown key and bad value, where it was set and what was expected
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { environment, flags = {}, placeOfFlag } = options;
  const fileLayer = await readFileLayer(options);
  const layers: readonly Layer[] = [
    flagLayer(flags, placeOfFlag),
    environmentLayer(environment),
    ...(fileLayer === null ? [] : [fileLayer]),
  ];
  refuse([...unknownVariables(environment), ...layers.flatMap(layerProblems)]);

  const layerOf = new Map(
    settingsKeys.map(({ key }) => [key, layers.find(({ content }) => valueAt(content, key) !== undefined)]),
  );
  const given = new Map(
    settingsKeys.map((row) => [row.key, valueAt(layerOf.get(row.key)?.content, row.key) ?? row.default]),
  );
  const { settings, problems } = boundByCeilings(given, (key) => layerOf.get(key)?.placeOf(key) ?? null);
  refuse(problems);

  const values = parseSettings(nest(settings));
  const hostEnvironment = pickVariables(environment, values.environmentAllowlist);
  refuse(
    variablesWithPasswords(hostEnvironment).map(
      (name) =>
        `environment_allowlist: ${name} contains a proxy's user or password, which sandboxes must not get; they do not need the variable, because Glovebox itself uses that proxy`,
    ),
  );
  return deepFreeze({
    values: {
      ...values,
      hostEnvironment: checkEnvironment(hostEnvironment, "environment_allowlist"),
      agentEnvironment: checkEnvironment(
        pickVariables(environment, [...agentVariables.map(({ name }) => name), ...values.agents.variables]),
        "agents.variables",
      ),
      upstreamProxy: readUpstreamProxy(environment, values.network.upstreamResolves),
      explicitSettings: [...layerOf].flatMap(([key, layer]) => (layer === undefined ? [] : [key])),
      engineEnvironment: pickVariables(environment, engineVariables),
    },
    sources: Object.fromEntries(
      [...layerOf].map(([key, layer]): [string, ConfigSource] => [key, layer?.source ?? "default"]),
    ),
    settings: Object.fromEntries(settings),
    file: fileLayer?.path ?? null,
  });
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const message =
    problems.length === 1
      ? `Configuration: ${problems[0]}.`
      : `Configuration: ${problems.length} problems.\n${problems.map((problem) => `- ${problem}.`).join("\n")}`;
  throw new GloveboxError("INVALID_REQUEST", message, {
    suggestion: "Correct these keys and start again; docs/configuration.md lists them all.",
    context: { problems },
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
