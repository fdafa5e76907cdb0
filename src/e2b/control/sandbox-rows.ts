import type { SandboxHosts } from "../http/sandbox-hosts.ts";
import type { E2bSandbox } from "../sandboxes/e2b-sandbox.ts";

/**
 * The version of E2B's daemon whose features are here: with it, the SDKs leave the user to the server, upload plain
 * bytes with attributes, watch folders with entries and close standard input, and refuse by themselves what came later.
 */
const envdVersion = "0.6.4";
const clientId = "glovebox";

/** Answer of create and connect. */
export function connectedRow(
  { id, template, token, trafficToken, isPublic }: E2bSandbox,
  { authority }: Pick<SandboxHosts, "authority">,
): object {
  return {
    sandboxID: id,
    templateID: template.name,
    alias: template.name,
    clientID: clientId,
    envdVersion,
    envdAccessToken: token,
    trafficAccessToken: template.keepsVariables || !isPublic ? trafficToken : null,
    domain: authority,
  };
}

/** One row of a list. */
export function listedRow({ id, template, metadata, limits, startedAtMs, endAtMs }: E2bSandbox): object {
  return {
    sandboxID: id,
    templateID: template.name,
    alias: template.name,
    clientID: clientId,
    startedAt: new Date(startedAtMs).toISOString(),
    endAt: new Date(endAtMs).toISOString(),
    state: "running",
    cpuCount: Math.max(1, Math.ceil(limits.cpus)),
    memoryMB: limits.memoryMb,
    diskSizeMB: limits.diskMb,
    envdVersion,
    metadata,
  };
}

/** Answer about one sandbox. */
export function detailRow(sandbox: E2bSandbox, { authority }: Pick<SandboxHosts, "authority">): object {
  return {
    ...listedRow(sandbox),
    domain: authority,
    envdAccessToken: sandbox.token,
    allowInternetAccess: false,
    lifecycle: { onTimeout: "kill", autoResume: false },
  };
}
