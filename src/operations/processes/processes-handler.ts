import { settlesWithin } from "../../base/abort.ts";
import { utf8Length } from "../../base/streams/utf8.ts";
import { invalidField, GloveboxError } from "../../errors/glovebox-error.ts";
import { handle } from "../handling/handler.ts";
import { outputPart, processRow } from "./process-row.ts";
import { listProcessesContract, stopProcessContract, writeStdinContract } from "./processes-contract.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { shortenTooling } from "../../policy/tooling/tooling-changes.ts";
import { gapSentences } from "../../policy/tooling/tooling-gaps.ts";
import type { Environment } from "../../workloads/environment/environment.ts";
import type { Session } from "../../workloads/session/session.ts";
import type { BackgroundProcess } from "../../workloads/place/background-process.ts";
import { maxToolingFiles } from "../environments/tooling-schema.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { assertOnePlace, type AboutPlace, type PlaceFields } from "../handling/one-place.ts";
import type { ProcessRow } from "./process-schema.ts";

/** What background processes run in. */
interface ProcessPlace extends Pick<Environment | Session, "processes" | "stopProcess"> {
  /** Its row, with the tooling files of the project that it has changed. */
  readonly rowOf: (process: BackgroundProcess) => Promise<ProcessRow>;
  readonly about: AboutPlace;
}

/** The place that a request means; it must already exist. @throws INVALID_REQUEST, NOT_FOUND */
async function placeOf(platform: PlatformParts, fields: PlaceFields, call: OperationCall): Promise<ProcessPlace> {
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

const defaultMaxBytes = 65_536;
/** How long to wait for the end of a process after a signal. */
const signalledMs = 300;

/** `list_processes`: the background processes of an environment or a session, and the output of one. */
export const listProcessesHandler = handle(listProcessesContract, async (platform, request, call) => {
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
export const writeStdinHandler = handle(writeStdinContract, async (platform, request, call) => {
  const { text = "", close = false } = request;
  if (!text.isWellFormed()) throw invalidField("text", "Unicode text", "half a surrogate pair");
  const { processes, about } = await placeOf(platform, request, call);
  const process = processes.find(request.process_id);
  await process.write(text, close);
  return { ...about, process_id: process.id, written_bytes: utf8Length(text), closed: close };
});

/** `stop_process`: ends a background process, or sends it a signal. */
export const stopProcessHandler = handle(stopProcessContract, async (platform, request, call) => {
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
