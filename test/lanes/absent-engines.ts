import { loadHostConfig } from "../../src/config/load-config.ts";
import { probeEngine } from "../../src/engines/unavailability.ts";
import { engineTable } from "../../src/engines/engine-table.ts";
import { guardEngine } from "../../src/engines/guarded-engine.ts";
import { engineSurroundings } from "../../src/platform/engine-chooser.ts";
import { isRequired } from "../helpers/require.ts";
import { absentLanesVariable, type AbsentLanes } from "./absent-lanes.ts";
import type { Lane } from "./lanes.ts";

/** Each lane with the engine that it waits for: gVisor is tested under Docker. */
const engineOf: Readonly<Partial<Record<Lane, string>>> = { docker: "docker", podman: "podman", runsc: "docker" };

/** What `npm test` finds on the machine. */
export interface FoundEngines {
  /** The lanes whose engine does not answer here, each with the reason; a required lane is never among them. */
  readonly absent: AbsentLanes;
  /** A line for each engine: its version, or why its tests are left out. */
  readonly lines: readonly string[];
}

/** Asks each engine that tests use. */
export async function findEngines(): Promise<FoundEngines> {
  const { config, host } = await loadHostConfig({});
  const reasons = new Map<string, string>();
  const lines: string[] = [];
  for (const { name, open, embedded } of engineTable) {
    if (open === undefined || !(embedded || Object.values(engineOf).includes(name))) continue;
    await using engine = guardEngine(await open(engineSurroundings(config, host)));
    const answer = await probeEngine(engine);
    lines.push(answer.available ? `${name} ${answer.version}` : `no ${name}: ${answer.reason}`);
    if (!answer.available) reasons.set(name, answer.reason);
  }
  const rows = Object.entries(engineOf).flatMap(([lane, engine]) => {
    const reason = reasons.get(engine);
    return reason === undefined || isRequired(lane as Lane) ? [] : [[lane, reason] as const];
  });
  return { absent: Object.fromEntries(rows), lines };
}

/** Environment for vitest's process, which evaluates the configuration. */
export function absentLanesEnvironment(lanes: AbsentLanes): Readonly<Record<string, string>> {
  return { [absentLanesVariable]: JSON.stringify(lanes) };
}
