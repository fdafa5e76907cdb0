import { GloveboxError } from "../../errors/glovebox-error.ts";
import { hintsOf } from "../../engines/engine-table.ts";
import type { Engine, EngineName, EngineProbe } from "../../engines/engine.ts";
import { probeEngine } from "../../engines/choice/probe-engine.ts";
import type { KernelSettings } from "./kernel-settings.ts";
import type { Isolation } from "../../policy/isolation.ts";
import { demandReport } from "./demand-findings.ts";
import { severities, type Finding } from "./finding-schema.ts";
import { knownDangers } from "./known-dangers.ts";
import { lookAtAgentImages } from "./agent-image-findings.ts";
import { imageFindings, sessionImageLabels } from "./image-findings.ts";
import type { DoctorEngine } from "./doctor-contract.ts";
import { nodeFindings } from "./node-dangers.ts";
import { settingFindings } from "./setting-findings.ts";
import { versionFindings } from "./version-findings.ts";
import type { Capabilities } from "../../engines/capabilities.ts";

/** What an engine is compared with. */
export interface Measure {
  readonly minIsolation: Isolation;
  readonly kernel: KernelSettings;
  readonly isRoot: boolean;
  /** Version of the Node that runs Glovebox. */
  readonly nodeVersion: string;
  /** Whether sessions run in the image that Glovebox builds. */
  readonly usesOwnImage: boolean;
  /** Whether trial requests may be made to it. */
  readonly isTried: boolean;
}

/** Probes the engine; a failing engine is a result, an abort is not. @throws CANCELLED */
export async function examineEngine(engine: Engine, measure: Measure, signal?: AbortSignal): Promise<DoctorEngine> {
  const probe = await probeEngine(engine, signal);
  const looksAtImage = measure.usesOwnImage && probe.available && probe.capabilities.images;
  const labels = looksAtImage ? await sessionImageLabels(engine, signal) : null;
  const hasImages = probe.available && probe.capabilities.images;
  const ofAgents = hasImages ? await lookAtAgentImages(engine, signal) : [];
  const own = probe.available && measure.isTried ? await ownFindings(engine, signal) : [];
  return engineReport(engine.name, probe, measure, [...own, ...imageFindings(engine.name, labels), ...ofAgents]);
}

/** What the engine finds itself; a failure is a finding, too. @throws CANCELLED */
async function ownFindings(engine: Engine, signal?: AbortSignal): Promise<readonly Finding[]> {
  try {
    return (await engine.check?.({ signal })) ?? [];
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    const why = "Nothing is known of what else may be wrong with it.";
    return [{ severity: "warning", what: error.message, why, fix: error.suggestion }];
  }
}

/** An engine of the product that this version has no adapter for. */
export function missingEngine(name: EngineName): DoctorEngine {
  return {
    name,
    available: false,
    usable: false,
    reason: "Not in this version of Glovebox.",
    findings: [],
  };
}

/** What a probe's answer means, together with what else was found. */
export function engineReport(
  name: EngineName,
  probe: EngineProbe,
  measure: Measure,
  others: readonly Finding[] = [],
): DoctorEngine {
  if (!probe.available) {
    const { reason, howToStart } = probe;
    return { name, available: false, usable: false, reason, how_to_start: howToStart, findings: [] };
  }
  const { version, capabilities, components = [], setup = {} } = probe;
  const demands = demandReport(capabilities, { engine: name, minIsolation: measure.minIsolation });
  return {
    name,
    available: true,
    usable: demands.usable,
    version,
    isolation: capabilities.isolation,
    capabilities: capabilityTable(capabilities),
    components: components.map(({ ociRuntime: _, ...component }) => component),
    ...(setup.connection === undefined ? {} : { reached_by: `${setup.connection.kind}, ${setup.connection.origin}` }),
    findings: [
      ...demands.findings,
      ...versionFindings(components, setup, knownDangers),
      ...nodeFindings(setup, measure.nodeVersion),
      ...settingFindings({ setup, kernel: measure.kernel, isRoot: measure.isRoot, hints: hintsOf(name) }),
      ...others,
    ].toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity)),
  };
}

/**
 * Each capability in words: `yes`, `no`, the name of a substitute, or a kind such as `memory`; isolation and sentences
 * are separate.
 */
function capabilityTable({
  isolation: _,
  notes: _notes,
  limitsAdvice: _limitsAdvice,
  isolationAdvice: _isolationAdvice,
  ...abilities
}: Capabilities): Readonly<Record<string, string>> {
  const words = Object.entries(abilities).flatMap(([name, ability]) =>
    ability === undefined ? [] : [[snakeCase(name), inWords(ability)] as const],
  );
  return Object.fromEntries(words);
}

function inWords(ability: boolean | string | { readonly substitute: string }): string {
  if (typeof ability === "boolean") return ability ? "yes" : "no";
  return typeof ability === "string" ? ability : ability.substitute;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
