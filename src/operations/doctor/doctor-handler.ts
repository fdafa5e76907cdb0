import { readNodeVersion } from "../../config/host/node-version.ts";
import { readPackageVersion } from "../../config/host/package-version.ts";
import { effectiveSettings } from "../../config/describe-config.ts";
import type { ChooseOptions, EngineChoice, Engines } from "../../engines/choice/discover.ts";
import { isOnlyByName, productEngines } from "../../engines/engine-table.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { readKernelSettings } from "./kernel-settings.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { checkChoice } from "../../policy/choice.ts";
import { defaultSessionImage } from "../../policy/session-profile.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { handle } from "../handling/handler.ts";
import { examineEngine, missingEngine } from "./examine-engine.ts";
import { doctorContract, type DoctorChoice, type DoctorResponse } from "./doctor-contract.ts";

/** For the operator only: it shows the configuration and its file's path. */
export const doctorHandler = handle(doctorContract, run);

async function run(parts: PlatformParts, _request: unknown, { signal }: OperationCall): Promise<DoctorResponse> {
  const { engines, config, host, loaded, defaultEngine } = parts;
  const nodeVersion = readNodeVersion();
  const measure = {
    minIsolation: config.minIsolation,
    kernel: await readKernelSettings(),
    isRoot: host.uid === 0,
    nodeVersion,
    usesOwnImage: config.images.session === defaultSessionImage,
  };
  const names = [...productEngines, ...engines.names.filter((name) => !productEngines.includes(name))];
  const asked = checkChoice(defaultEngine ?? config.containerRuntime, ["auto", ...names], "engine");
  const examined = names.map(async (name) => {
    if (!engines.names.includes(name)) return missingEngine(name);
    const engine = await engines.get(name);
    return examineEngine(engine, { ...measure, isTried: name === asked || !isOnlyByName(name) }, signal);
  });
  const { minIsolation } = config;
  const inContainers = config.executionMode === "container";
  const [refused, reports, byDefault, ownMachine, containerMode] = await Promise.all([
    refusalOf(parts),
    Promise.all(examined),
    choice(engines, asked, { allowEmbedded: !inContainers, minIsolation, signal }),
    choice(engines, "auto", { allowEmbedded: !inContainers, minIsolation, signal }),
    choice(engines, "auto", { allowEmbedded: false, minIsolation, signal }),
  ]);
  return {
    version: readPackageVersion(),
    node_version: nodeVersion,
    platform: `${host.platform} ${host.architecture}`,
    ...(refused === null ? {} : { refused }),
    engines: reports,
    chosen_engine: { default: byDefault, own_machine: ownMachine, container_mode: containerMode },
    configuration:
      loaded === null ? { file: null, settings: [] } : { file: loaded.file, settings: [...effectiveSettings(loaded)] },
  };
}

/** Uses the very check that refuses runs. */
async function refusalOf({ openState }: Pick<PlatformParts, "openState">): Promise<DoctorResponse["refused"] | null> {
  try {
    await openState();
    return null;
  } catch (error) {
    if (!(error instanceof GloveboxError)) throw error;
    return { why: error.message, fix: error.suggestion };
  }
}

/** The engine that a run would get, chosen by the same code. @throws CANCELLED */
async function choice(engines: Engines, asked: EngineChoice, options: ChooseOptions): Promise<DoctorChoice> {
  try {
    const { engine, notes } = await engines.choose(asked, options);
    const why = asked === "auto" ? "It is the first that answers." : "It is configured.";
    return { asked, engine: engine.name, why: notes[0] ?? why };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    return { asked, engine: null, why: error.message };
  }
}
