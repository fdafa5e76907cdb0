import { appleSabotages } from "./apple.ts";
import { agentsSabotages } from "./agents.ts";
import { copiesSabotages } from "./copies.ts";
import { consoleSabotages } from "./console.ts";
import { doorsSabotages } from "./doors.ts";
import { egressSabotages } from "./egress.ts";
import { lifetimesSabotages } from "./lifetimes.ts";
import { localSabotages } from "./local.ts";
import { mountsSabotages } from "./mounts.ts";
import { packagesSabotages } from "./packages.ts";
import { platformsSabotages } from "./platforms.ts";
import { preloadSabotages } from "./preload.ts";
import { previewsSabotages } from "./previews.ts";
import { projectsSabotages } from "./projects.ts";
import { readsSabotages } from "./reads.ts";
import { peerSabotages } from "./peers.ts";
import { remoteSabotages } from "./remote.ts";
import { runsSabotages } from "./runs.ts";
import { agentRunnerSabotages } from "./agent-runner.ts";
import { tracesSabotages } from "./traces.ts";
import type { Sabotage } from "./sabotage.ts";
import { upstreamSabotages } from "./upstream.ts";
import { telemetrySabotages } from "./telemetry.ts";

/** Every sabotage, by area. */
export const sabotages: readonly Sabotage[] = [
  ...appleSabotages,
  ...agentsSabotages,
  ...copiesSabotages,
  ...consoleSabotages,
  ...doorsSabotages,
  ...egressSabotages,
  ...lifetimesSabotages,
  ...localSabotages,
  ...mountsSabotages,
  ...packagesSabotages,
  ...platformsSabotages,
  ...preloadSabotages,
  ...previewsSabotages,
  ...projectsSabotages,
  ...readsSabotages,
  ...peerSabotages,
  ...remoteSabotages,
  ...runsSabotages,
  ...agentRunnerSabotages,
  ...tracesSabotages,
  ...upstreamSabotages,
  ...telemetrySabotages,
];
