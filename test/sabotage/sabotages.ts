import { appleSabotages } from "./apple.ts";
import { agentsSabotages } from "./agents.ts";
import { clusterSabotages } from "./cluster.ts";
import { copiesSabotages } from "./copies.ts";
import { cliSabotages } from "./cli.ts";
import { consoleSabotages } from "./console.ts";
import { doorsSabotages } from "./doors.ts";
import { e2bSabotages } from "./e2b.ts";
import { egressSabotages } from "./egress.ts";
import { imagesSabotages } from "./images.ts";
import { kubernetesSabotages } from "./kubernetes.ts";
import { lifetimesSabotages } from "./lifetimes.ts";
import { localSabotages } from "./local.ts";
import { mountsSabotages } from "./mounts.ts";
import { namesSabotages } from "./names.ts";
import { packagesSabotages } from "./packages.ts";
import { platformsSabotages } from "./platforms.ts";
import { preloadSabotages } from "./preload.ts";
import { previewsSabotages } from "./previews.ts";
import { projectsSabotages } from "./projects.ts";
import { toolingSabotages } from "./tooling.ts";
import { readsSabotages } from "./reads.ts";
import { peerSabotages } from "./peers.ts";
import { remoteSabotages } from "./remote.ts";
import { contextSabotages } from "./contexts.ts";
import { runsSabotages } from "./runs.ts";
import { agentRunnerSabotages } from "./agent-runner.ts";
import { tracesSabotages } from "./traces.ts";
import type { Sabotage } from "./sabotage.ts";
import { uncountedSabotages } from "./uncounted.ts";
import { upstreamSabotages } from "./upstream.ts";
import { telemetrySabotages } from "./telemetry.ts";
import { sharesSabotages } from "./shares.ts";
import { supervisedSabotages } from "./supervised.ts";
import { supervisorSabotages } from "./supervisor.ts";
import { testsSabotages } from "./tests.ts";

/** Every sabotage, by area. */
export const sabotages: readonly Sabotage[] = [
  ...appleSabotages,
  ...agentsSabotages,
  ...clusterSabotages,
  ...copiesSabotages,
  ...cliSabotages,
  ...consoleSabotages,
  ...doorsSabotages,
  ...e2bSabotages,
  ...egressSabotages,
  ...imagesSabotages,
  ...kubernetesSabotages,
  ...lifetimesSabotages,
  ...localSabotages,
  ...mountsSabotages,
  ...namesSabotages,
  ...packagesSabotages,
  ...platformsSabotages,
  ...preloadSabotages,
  ...previewsSabotages,
  ...projectsSabotages,
  ...toolingSabotages,
  ...readsSabotages,
  ...peerSabotages,
  ...remoteSabotages,
  ...runsSabotages,
  ...contextSabotages,
  ...agentRunnerSabotages,
  ...tracesSabotages,
  ...uncountedSabotages,
  ...upstreamSabotages,
  ...telemetrySabotages,
  ...sharesSabotages,
  ...supervisedSabotages,
  ...supervisorSabotages,
  ...testsSabotages,
];
