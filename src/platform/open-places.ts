import path from "node:path";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { knownAccessToken } from "../config/server-access.ts";
import { PreviewGateway } from "../ingress/preview-gateway.ts";
import { AgentTurns } from "../workloads/agent/agent-turns.ts";
import { Environments } from "../workloads/environment/environments.ts";
import { Previews } from "../workloads/preview/previews.ts";
import { Sessions } from "../workloads/session/sessions.ts";
import type { Owners } from "./open-owners.ts";
import type { OpenedSandboxes } from "./open-sandboxes.ts";
import type { TelemetryParts } from "./open-telemetry-parts.ts";
import type { Kit } from "../base/kit.ts";

/** What persists between calls. */
export interface OpenedPlaces {
  readonly sessions: Sessions;
  readonly environments: Environments;
  readonly previews: Previews;
  readonly previewGateway: PreviewGateway;
  readonly agentTurns: AgentTurns;
}

export interface PlacesOptions {
  readonly kit: Kit;
  readonly config: Config;
  readonly host: Host;
  readonly owners: Owners;
  readonly opened: OpenedSandboxes;
  readonly telemetry: TelemetryParts;
}

/** Nothing is started yet. */
export function openPlaces(options: PlacesOptions): OpenedPlaces {
  const { config, host, owners, opened, telemetry, kit } = options;
  const { archives, diskScratch } = owners;
  const { admission, sandboxes } = opened;
  const idleMs = config.session.idleTimeoutMs;
  const waiting = (principal: string): number => admission.waitingFor(principal);
  const previewGateway = new PreviewGateway({ ...config.preview, readToken: () => knownAccessToken(host) });
  return {
    sessions: new Sessions({ ...kit, archives, idleMs, waiting }),
    environments: new Environments({ idleMs: config.environmentIdleMs, logger: kit.logger }),
    previews: new Previews({
      ...{ ...kit, sandboxes, gateway: previewGateway, alerts: telemetry.previewAlerts, diskScratch },
      maxOutputBytes: config.maxOutputBytes,
    }),
    previewGateway,
    agentTurns: new AgentTurns({
      folder: path.join(host.stateDirectory, "agents"),
      uid: host.uid,
      maxWaiting: config.queue.limit,
    }),
  };
}
