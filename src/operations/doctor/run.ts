import type { LoadedConfig } from "../../config/config.ts";
import { effectiveSettings } from "../../config/describe-config.ts";
import type { ChooseOptions, EngineChoice, Engines } from "../../engines/discover.ts";
import { productEngines } from "../../engines/engine-table.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { readKernelSettings } from "../../platform/kernel-settings.ts";
import type { Platform } from "../../platform/platform.ts";
import { checkChoice } from "../../policy/choice.ts";
import { defaultSessionImage } from "../../policy/session-profile.ts";
import type { Operation, OperationCall } from "../operation.ts";
import { examineEngine, missingEngine, type Measure } from "./examine-engine.ts";
import { doctorRequestSchema, doctorResponseSchema, type DoctorChoice, type DoctorResponse } from "./schema.ts";

/** What `doctor` looks at beside the engines. */
export interface DoctorContext {
  readonly platform: Platform;
  readonly loaded: LoadedConfig;
  /** Engine of requests that name none, above the configuration's. */
  readonly defaultEngine?: string | undefined;
  /** Of Glovebox. */
  readonly version: string;
  readonly nodeVersion: string;
}

/** For the operator's eyes only: it shows the configuration and where its file lies. */
export const doctorOperation: Operation<typeof doctorRequestSchema, typeof doctorResponseSchema, DoctorContext> = {
  name: "doctor",
  description:
    "Tells which engines can be used here, what each enforces, known dangers, and the effective configuration.",
  request: doctorRequestSchema,
  response: doctorResponseSchema,
  run,
};

async function run(context: DoctorContext, _request: unknown, { signal }: OperationCall): Promise<DoctorResponse> {
  const { platform, loaded, version, nodeVersion } = context;
  const { engines, config, host } = platform;
  const measure: Measure = {
    minIsolation: config.minIsolation,
    kernel: await readKernelSettings(),
    isRoot: host.uid === 0,
    nodeVersion,
    usesOwnImage: config.images.session === defaultSessionImage,
  };
  const names = [...productEngines, ...engines.names.filter((name) => !productEngines.includes(name))];
  const examined = names.map(async (name) =>
    engines.names.includes(name) ? examineEngine(await engines.get(name), measure, signal) : missingEngine(name),
  );
  const asked = checkChoice(context.defaultEngine ?? config.containerRuntime, ["auto", ...names], "engine");
  const { minIsolation } = config;
  const inContainers = config.executionMode === "container";
  const [reports, byDefault, ownMachine, containerMode] = await Promise.all([
    Promise.all(examined),
    choice(engines, asked, { allowEmbedded: !inContainers, minIsolation, signal }),
    choice(engines, "auto", { allowEmbedded: !inContainers, minIsolation, signal }),
    choice(engines, "auto", { allowEmbedded: false, minIsolation, signal }),
  ]);
  return {
    version,
    node_version: nodeVersion,
    platform: `${host.platform} ${host.architecture}`,
    engines: reports,
    chosen_engine: { default: byDefault, own_machine: ownMachine, container_mode: containerMode },
    configuration: { file: loaded.file, settings: [...effectiveSettings(loaded)] },
  };
}

/** The engine that the product itself would choose, by its own code. @throws CANCELLED */
async function choice(engines: Engines, asked: EngineChoice, options: ChooseOptions): Promise<DoctorChoice> {
  try {
    const { engine, notes } = await engines.choose(asked, options);
    const why = asked === "auto" ? "It is the first that answers." : "It is the one that is configured.";
    return { asked, engine: engine.name, why: notes[0] ?? why };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    return { asked, engine: null, why: error.message };
  }
}
