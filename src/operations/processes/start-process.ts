import type { z } from "zod";
import { invalidField } from "../../errors/glovebox-error.ts";
import type { Platform } from "../../platform/platform.ts";
import { assertNetworkAllowed, parseNetwork } from "../../policy/network/network.ts";
import { workFolder } from "../../policy/scratch.ts";
import { startInSession } from "../../workloads/session/start-in-session.ts";
import { readCommand } from "../environments/read-command.ts";
import { explicitDemands } from "../explicit-demands.ts";
import type { Operation, OperationCall } from "../operation.ts";
import { sessionListener } from "../session/session-listener.ts";
import { sessionOf } from "../session/session-of.ts";
import { assertOnePlace } from "./process-place.ts";
import { processRow } from "./process-row.ts";
import { startProcessRequestSchema, startProcessResponseSchema, type StartProcessResponse } from "./schema.ts";

type Request = z.output<typeof startProcessRequestSchema>;

/** `start_process`: a process that goes on when the call is over. */
export const startProcessOperation: Operation<
  typeof startProcessRequestSchema,
  typeof startProcessResponseSchema,
  Platform
> = {
  name: "start_process",
  description: [
    "Starts a background process, such as a server or a watcher, in an environment (env_id) or in the session of run_code, and answers at once.",
    "Read its output with list_processes, write to it with write_stdin, end it with stop_process.",
    "In a session it runs beside later calls, with the session's files and packages: install packages by a call before.",
    "`ports` names what it listens on: the answer has a URL for each, on the machine of the server.",
    "It keeps its environment or session from being ended as idle, and ends with it.",
  ].join(" "),
  request: startProcessRequestSchema,
  response: startProcessResponseSchema,
  run: (platform, request, call) => {
    assertOnePlace(request);
    const { env_id: id } = request;
    return id === undefined
      ? startHere(platform, request, call)
      : startThere(platform, { ...request, env_id: id }, call);
  },
};

async function startThere(
  { environments }: Platform,
  request: Request & { readonly env_id: string },
  { principal, signal }: OperationCall,
): Promise<StartProcessResponse> {
  const { env_id: id, network } = request;
  if (network !== undefined) {
    throw invalidField("network", "to be left out with env_id, whose network was set when it was created", network);
  }
  const spec = { ...readCommand(request), ports: readPorts(request) };
  const environment = await environments.find(id, principal);
  return { ...processRow(await environment.startProcess(spec, signal)), env_id: id, warnings: [] };
}

/** In a session. */
async function startHere(platform: Platform, request: Request, call: OperationCall): Promise<StartProcessResponse> {
  const { config } = platform;
  const network = parseNetwork(request.network);
  assertNetworkAllowed(network, config.network);
  const start = {
    spec: { ...readCommand(request, workFolder), ports: readPorts(request) },
    network,
    hostEnvironment: config.hostEnvironment,
    explicitDemands: explicitDemands("session", { network: request.network }, config.explicitSettings),
  };
  const { session, notes } = await sessionOf(platform, { session_id: request.session_id }, call);
  const { process, restarted, warnings } = await startInSession(
    session,
    { ...start, minIsolation: session.settings.minIsolation },
    { ...platform, listener: sessionListener(call) },
    call,
  );
  return { ...processRow(process), session_id: session.id, restarted, warnings: [...notes, ...warnings] };
}

function readPorts({ ports = [] }: Request): readonly number[] {
  const twice = ports.find((port, index) => ports.indexOf(port) !== index);
  if (twice !== undefined) throw invalidField("ports", "each port once", `${twice} twice`);
  return ports;
}
