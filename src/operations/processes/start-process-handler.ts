import type { RequestOf } from "../contract/operation-contract.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { workFolder } from "../../policy/scratch.ts";
import { startInSession } from "../../workloads/session/start-in-session.ts";
import { readCommandRequest } from "../environments/command-request.ts";
import { allowedNetwork, explicitDemands } from "../handling/settle.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { handle } from "../handling/handler.ts";
import { callListener } from "../handling/call-events.ts";
import { sessionOf } from "../session/session-of.ts";
import { assertOnePlace } from "../handling/one-place.ts";
import { processRow } from "./process-row.ts";
import { startProcessContract, type StartProcessResponse } from "./start-process-contract.ts";

type Request = RequestOf<typeof startProcessContract>;

/** `start_process`: a process that keeps running after the call. */
export const startProcessHandler = handle(startProcessContract, (platform, request, call) => {
  assertOnePlace(request);
  const { env_id: id } = request;
  return id === undefined
    ? startInSessionOf(platform, request, call)
    : startInEnvironment(platform, { ...request, env_id: id }, call);
});

async function startInEnvironment(
  { environments }: PlatformParts,
  request: Request & { readonly env_id: string },
  { principal, signal }: OperationCall,
): Promise<StartProcessResponse> {
  const { env_id: id, network } = request;
  if (network !== undefined) {
    throw invalidField("network", "to be left out with env_id, whose network was set when it was created", network);
  }
  const spec = { ...readCommandRequest(request), ports: readPorts(request) };
  const environment = await environments.find(id, principal);
  return { ...processRow(await environment.startProcess(spec, signal)), env_id: id, warnings: [] };
}

async function startInSessionOf(
  platform: PlatformParts,
  request: Request,
  call: OperationCall,
): Promise<StartProcessResponse> {
  const { config } = platform;
  const network = allowedNetwork(request.network, platform);
  const folder = platform.sessions.find(request.session_id, call)?.folder ?? workFolder;
  const start = {
    spec: { ...readCommandRequest(request, folder), ports: readPorts(request) },
    network,
    hostEnvironment: config.hostEnvironment,
    explicitDemands: explicitDemands("session", { network: request.network }, config.explicitSettings),
  };
  const { session, notes } = await sessionOf(platform, { session_id: request.session_id }, call);
  const { process, restarted, warnings } = await startInSession(
    session,
    { ...start, minIsolation: session.settings.minIsolation },
    { ...platform, listener: callListener(call) },
    call,
  );
  return { ...processRow(process), session_id: session.id, restarted, warnings: [...notes, ...warnings] };
}

function readPorts({ ports = [] }: Request): readonly number[] {
  const twice = ports.find((port, index) => ports.indexOf(port) !== index);
  if (twice !== undefined) throw invalidField("ports", "each port once", `${twice} twice`);
  return ports;
}
