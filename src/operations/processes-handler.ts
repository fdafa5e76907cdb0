import type { RequestOf, OperationCall } from "./contract/operation-contract.ts";
import { invalidField, GloveboxError } from "../errors/glovebox-error.ts";
import { workFolder } from "../policy/scratch.ts";
import { startInSession } from "../workloads/session/session-work.ts";
import { readCommandRequest } from "./project-handler.ts";
import { allowedNetwork, explicitDemands, assertOnePlace, type AboutPlace, type PlaceFields } from "./settle.ts";
import { handle } from "./handler.ts";
import { callListener } from "./to-wire.ts";
import { sessionOf, type SessionNeeds } from "./session-handler.ts";
import {
  startProcessContract,
  listProcessesContract,
  stopProcessContract,
  writeStdinContract,
  type StartProcessResponse,
  type ProcessRow,
  type ListProcessesResponse,
} from "./processes-contract.ts";
import { settlesWithin } from "../base/abort.ts";
import { utf8Length } from "../base/streams/utf8.ts";
import { shortenTooling, gapSentences } from "../policy/tooling-changes.ts";
import type { Environment } from "../workloads/environment/environment.ts";
import type { Session } from "../workloads/session/session.ts";
import type { BackgroundProcess } from "../workloads/place/background-processes.ts";
import { maxToolingFiles } from "./contract/program-schema.ts";
import type { Environments } from "../workloads/environment/environments.ts";

export interface ProcessNeeds extends SessionNeeds {
  readonly environments: Environments;
}

type Request = RequestOf<typeof startProcessContract>;

/** `start_process`: a process that keeps running after the call. */
export const startProcessHandler = handle(startProcessContract, (platform: ProcessNeeds, request, call) => {
  assertOnePlace(request);
  const { env_id: id } = request;
  return id === undefined
    ? startInSessionOf(platform, request, call)
    : startInEnvironment(platform, { ...request, env_id: id }, call);
});

/** What background processes run in. */
interface ProcessPlace extends Pick<Environment | Session, "processes" | "stopProcess"> {
  /** Its row, with the tooling files of the project that it has changed. */
  readonly rowOf: (process: BackgroundProcess) => Promise<ProcessRow>;
  readonly about: AboutPlace;
}

const defaultMaxBytes = 65_536;
/** How long to wait for the end of a process after a signal. */
const signalledMs = 300;

/** `list_processes`: the background processes of an environment or a session, and the output of one. */
export const listProcessesHandler = handle(listProcessesContract, async (platform: ProcessNeeds, request, call) => {
  const { processes, about, rowOf } = await placeOf(platform, request, call);
  const { process_id: id, stdout_offset: stdout = 0, stderr_offset: stderr = 0 } = request;
  if (id === undefined) return { ...about, processes: await Promise.all(processes.all.map(rowOf)) };
  const { max_bytes: maxBytes = defaultMaxBytes } = request;
  const process = processes.find(id);
  return {
    ...about,
    processes: [
      {
        ...(await rowOf(process)),
        stdout: outputPart(process, "stdout", { offset: stdout, maxBytes }),
        stderr: outputPart(process, "stderr", { offset: stderr, maxBytes }),
      },
    ],
  };
});

/** `write_stdin`: input for a background process. */
export const writeStdinHandler = handle(writeStdinContract, async (platform: ProcessNeeds, request, call) => {
  const { text = "", close = false } = request;
  if (!text.isWellFormed()) throw invalidField("text", "Unicode text", "half a surrogate pair");
  const { processes, about } = await placeOf(platform, request, call);
  const process = processes.find(request.process_id);
  await process.write(text, close);
  return { ...about, process_id: process.id, written_bytes: utf8Length(text), closed: close };
});

/** `stop_process`: ends a background process, or sends it a signal. */
export const stopProcessHandler = handle(stopProcessContract, async (platform: ProcessNeeds, request, call) => {
  const { about, processes, stopProcess, rowOf } = await placeOf(platform, request, call);
  const process = processes.find(request.process_id);
  const { signal } = request;
  if (signal === undefined || signal === "SIGKILL") {
    const warnings = await stopProcess(process, { atOnce: signal === "SIGKILL" });
    await process.ended;
    return { ...about, ...(await rowOf(process)), warnings: [...warnings] };
  }
  await process.signal(signal);
  // If the signal ends it, the answer says so.
  await settlesWithin(process.ended, signalledMs);
  return { ...about, ...(await rowOf(process)), warnings: [] };
});

type Part = NonNullable<ListProcessesResponse["processes"][number]["stdout"]>;

/** A background process as callers see it. */
function processRow({ id, command, state, exitCode, startedAtMs, ports }: BackgroundProcess): ProcessRow {
  return {
    process_id: id,
    command: [...command],
    state,
    exit_code: exitCode,
    started_at: new Date(startedAtMs).toISOString(),
    ports: ports.map((open) => ({ ...open })),
  };
}

/** What it wrote to one stream, from an offset on. */
function outputPart(
  process: BackgroundProcess,
  stream: "stdout" | "stderr",
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
): Part {
  const isOver = process.isOutputOver;
  const part = process[stream].part({ offset, maxBytes, isOver });
  return {
    offset: part.offset,
    text: part.text,
    next_offset: part.nextOffset,
    total_bytes: process[stream].totalBytes,
    is_over: isOver && part.nextOffset === process[stream].totalBytes,
  };
}

async function startInEnvironment(
  { environments }: ProcessNeeds,
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
  platform: ProcessNeeds,
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

/** The place that a request means; it must already exist. @throws INVALID_REQUEST, NOT_FOUND */
async function placeOf(platform: ProcessNeeds, fields: PlaceFields, call: OperationCall): Promise<ProcessPlace> {
  assertOnePlace(fields);
  const { env_id: id } = fields;
  if (id !== undefined) return inEnvironment(id, await platform.environments.find(id, call.principal));
  const session = platform.sessions.find(fields.session_id, call);
  if (session !== null) return inSession(session);
  throw new GloveboxError("NOT_FOUND", "There is no session yet, so it has no processes.", {
    suggestion: "Start one with start_process, or give the env_id of an environment.",
  });
}

function inEnvironment(id: string, environment: Environment): ProcessPlace {
  return {
    about: { env_id: id },
    processes: environment.processes,
    rowOf: async (process) => {
      const report = await environment.tooling.reportOf(process);
      if (report === null) return processRow(process);
      const unseen = gapSentences(report.gaps);
      return {
        ...processRow(process),
        tooling_files: [...shortenTooling(report.changed, maxToolingFiles)],
        ...(unseen.length === 0 ? {} : { tooling_unseen: [...unseen] }),
      };
    },
    stopProcess: (...stop) => environment.stopProcess(...stop),
  };
}

function inSession(session: Session): ProcessPlace {
  return {
    about: { session_id: session.id },
    processes: session.processes,
    rowOf: (process) => Promise.resolve(processRow(process)),
    stopProcess: (...stop) => session.stopProcess(...stop),
  };
}
