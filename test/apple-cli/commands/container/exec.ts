import { randomUUID } from "node:crypto";
import { readUser } from "../../container/configuration.ts";
import { readEnvironment } from "../../container/environment.ts";
import { readUlimits } from "../../container/ulimits.ts";
import type { Context, Work } from "../../context.ts";
import type { Found } from "../../docker/containers.ts";
import { DockerError } from "../../docker/docker-api.ts";
import { CommandError, ConnectionError, NotImitated, ProgramEnd } from "../../output/command-error.ts";
import { carryStreams } from "../../program/carry-streams.ts";
import { ExecEnd } from "../../program/exec-end.ts";
import { startError } from "../../program/start-error.ts";
import { checkTerminal, truncatedAfterBytes } from "./foreground.ts";

interface ExecState {
  readonly Running: boolean;
  readonly ExitCode: number | null;
  readonly Pid: number;
}

/** Exit codes of an exec that Docker could not start. */
const notStarted: ReadonlySet<number> = new Set([126, 127]);
const killedEarly = /reset by peer|signal: killed|unexpected EOF/;

/** What Docker is told to run; variables that the container already has keep the value that programs there see. */
function execBody({ options, variables }: Context, { configuration }: Found): object {
  // Read only for its errors: the limits of the container's first process apply.
  readUlimits(options.all("ulimit"));
  const taken = new Set(configuration.environment.map((entry) => entry.split("=", 1)[0]));
  const given = readEnvironment(options.all("env"), options.all("env-file"), variables);
  const who = readUser(options, configuration.user);
  if (who.supplementalGroups.length > 0) throw new NotImitated("exec with --gid alone is not imitated");
  return {
    AttachStdin: options.has("interactive"),
    AttachStdout: true,
    AttachStderr: true,
    Tty: options.has("tty"),
    Env: given.filter((entry) => !taken.has(entry.split("=", 1)[0])),
    Cmd: options.arguments.slice(1),
    User: who.user,
    WorkingDir: options.one("workdir") ?? configuration.workingDirectory,
  };
}

async function findRunning({ containers }: Context, id: string): Promise<Found> {
  const found = await containers.find(id);
  if (found === undefined) throw new CommandError("notFound", `get failed: container ${id} not found`);
  if (found.status.state === "running") return found;
  throw new CommandError("invalidState", `container ${id} is not running`);
}

/** Runs a program in a running container, with the command's streams unless it is detached. */
export const exec: Work = async (context) => {
  const { api, containers, options, say, fault, signals } = context;
  const [id = "", executable] = options.arguments;
  if (executable === undefined) throw new CommandError("invalidArgument", "no command specified for exec");
  const found = await findRunning(context, id);
  const [terminal, input] = [options.has("tty"), options.has("interactive")];
  if (!options.has("detach")) checkTerminal(terminal, input);
  const processId = randomUUID();
  const failed = (docker: string): CommandError => startError(docker, id, executable, processId.toUpperCase());
  try {
    const made = await api.json<{ Id: string }>(
      "POST",
      `/containers/${containers.nameOf(id)}/exec`,
      execBody(context, found),
    );
    if (options.has("detach")) {
      await api.json("POST", `/exec/${made.Id}/start`, { Detach: true });
      await refuseUnstarted(context, made.Id, failed);
      if (fault === "interrupted") throw new ConnectionError("interrupted");
      say.out(id);
      return;
    }
    const end = new ExecEnd(() => askState(context, made.Id));
    const streams = await api.hijack(`/exec/${made.Id}/start`, { Detach: false, Tty: terminal });
    signals.programStarted(() => undefined);
    if (fault === "interrupted") throw new ConnectionError("interrupted");
    let words = "";
    await carryStreams(streams, {
      terminal,
      input,
      allows: (bytes) => end.allows(bytes),
      outputLimit: fault === "truncated" ? truncatedAfterBytes : undefined,
      accept: async (first) => {
        // If the program does not exist, Docker's own message arrives as its output.
        if (!first.toString().startsWith("OCI runtime exec failed")) return true;
        words = first.toString();
        return (await stateOf(context, made.Id)).Pid !== 0;
      },
    });
    const { ExitCode, Pid } = end.state ?? (await stateOf(context, made.Id));
    // Killed from inside before it became the program: in a guest there is no runtime whose death would be a different failure.
    if (Pid === 0 && killedEarly.test(words)) throw new ProgramEnd(137);
    if (Pid === 0 && (ExitCode === null || notStarted.has(ExitCode))) throw failed(words);
    if (fault === "truncated") throw new CommandError("unknown", "failed to exec process CancellationError()");
    throw new ProgramEnd(ExitCode ?? 255);
  } catch (error) {
    if (!(error instanceof DockerError)) throw error;
    await findRunning(context, id);
    throw failed(error.message);
  }
};

const askState = ({ api }: Context, execId: string): Promise<ExecState> =>
  api.json<ExecState>("GET", `/exec/${execId}/json`);

async function stateOf(context: Context, execId: string): Promise<ExecState> {
  for (;;) {
    const state = await askState(context, execId);
    if (!state.Running) return state;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A detached program that could not be started has ended at once, without a process. */
async function refuseUnstarted(context: Context, execId: string, failed: (words: string) => Error): Promise<void> {
  const { Running, Pid } = await askState(context, execId);
  if (!Running && Pid === 0) throw failed("executable file not found");
}
