import { settlesWithin, throwIfCancelled } from "../../../base/abort.ts";
import type { CallOptions } from "../../engine.ts";
import { refusalReason } from "../http/api-error.ts";
import { attachProcess, type ProgramEnd } from "./attached-process.ts";
import { environmentList } from "../container/container-config.ts";
import { containerPath, type ContainerLink } from "../container/container-link.ts";
import { killedExitCode } from "../container/container-state.ts";
import type { RuntimeFailureMarker } from "../dialect.ts";
import { despiteAbort } from "./despite-abort.ts";
import { endedProcess } from "./ended-process.ts";
import { endStoppedStarts } from "./end-stopped-starts.ts";
import { lostError } from "../../inside/lost-error.ts";
import type { InsideProgram, StartedProgram } from "../../inside/running-container.ts";
import { pollUntilEnded } from "./poll-until-ended.ts";
import { parseExecFailure, parseRuntimeFailure, RuntimeFailureFilter } from "./runtime-failure.ts";

/** The part of an exec's inspection that is read. */
interface ExecAnswer {
  /** Only this says whether it has ended: some engines always show an exit code. */
  readonly Running?: boolean;
  readonly ExitCode?: number | null;
  /** 0 when the program was never started, and on some engines also after it has ended. */
  readonly Pid?: number;
}

/** How long after the fact the reason may take why a program was never started. */
const reasonMs = 2_000;

/**
 * Runs a program in the running container.
 * Given up once the engine has begun, it resolves nevertheless: nothing could end the program but its handle's owner.
 */
export async function startExec(
  link: ContainerLink,
  { command, environment, workingDirectory = "/", user, ending }: InsideProgram,
  { signal }: CallOptions,
): Promise<StartedProgram> {
  const created = await link.api.call("prepare a program", {
    method: "POST",
    path: containerPath(link, "exec"),
    body: {
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      Privileged: false,
      Cmd: command,
      Env: environmentList(environment),
      User: user,
      WorkingDir: workingDirectory,
    },
    signal,
  });
  const { Id: id } = created.body as { readonly Id: string };
  throwIfCancelled(signal);
  const request = { method: "POST", path: `/exec/${id}/start`, body: { Detach: false, Tty: false } } as const;
  const begun = endStoppedStarts(link.id);
  const opened = await despiteAbort(
    (patient) => link.api.open("start a program", { ...request, signal: patient }, [400, 500]),
    signal,
  ).catch((error: unknown) => {
    begun();
    throw error;
  });
  if (!("socket" in opened)) {
    begun();
    const failure = parseRuntimeFailure(refusalReason(opened), command);
    if (failure !== null) return endedProcess(failure);
    throw link.api.refusal("start a program", opened);
  }
  const marker = link.dialect.runtimeFailure;
  const filter = marker === null ? null : new RuntimeFailureFilter(marker);
  const process = attachProcess({
    socket: opened.socket,
    lastWords: link.dialect.lastWords,
    filter,
    killed: ending?.killed,
    awaitEnd: async (streamEnd) => {
      const answer = await execAnswer(link, id, streamEnd);
      // Perhaps it was never started: then the reason is in the stream, which ends by itself.
      const suspect = answer !== null && mayNotHaveStarted(answer, marker);
      if (suspect && ending?.isKilled()) return { exitCode: killedExitCode };
      if (suspect) await settlesWithin(streamEnd, reasonMs);
      return programEnd(link, command, answer, suspect ? filter : null);
    },
  });
  process.exit.then(begun, begun);
  return process;
}

/** The state of the exec at its end; null when it disappeared with its container. */
async function execAnswer(link: ContainerLink, id: string, streamEnd: Promise<void>): Promise<ExecAnswer | null> {
  try {
    return await pollUntilEnded(async () => {
      const { status, body } = await link.api.call(
        "inspect a program",
        { method: "GET", path: `/exec/${id}/json` },
        [404],
      );
      const answer = status === 404 ? null : (body as ExecAnswer);
      return answer?.Running === true ? "running" : answer;
    }, streamEnd);
  } catch (error) {
    if (link.isEndedByUs()) return null;
    throw lostError(link.dialect.title, error);
  }
}

/** Whether the runtime's words in the stream, if there are any, can be its own. */
function mayNotHaveStarted({ Pid, ExitCode }: ExecAnswer, marker: RuntimeFailureMarker | null): boolean {
  if (marker === null) return false;
  return marker.exitCodes === null ? Pid === 0 : marker.exitCodes.includes(ExitCode ?? 0);
}

async function programEnd(
  link: ContainerLink,
  command: readonly string[],
  answer: ExecAnswer | null,
  filter: RuntimeFailureFilter | null,
): Promise<ProgramEnd> {
  if (filter?.isHolding) {
    const { exitCode, message } = parseExecFailure(filter.heldText, command);
    if (await link.isAlive()) return { exitCode, failure: message };
  }
  const exitCode = answer?.ExitCode ?? null;
  if (exitCode !== null && exitCode !== killedExitCode) return { exitCode };
  // Killed: by itself, by the kernel, or together with its container?
  if ((exitCode !== null && (await link.isAlive())) || link.isEndedByUs()) return { exitCode: killedExitCode };
  throw lostError(link.dialect.title);
}
