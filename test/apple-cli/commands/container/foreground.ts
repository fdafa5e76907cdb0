import type { Configuration } from "../../container/configuration.ts";
import type { Mount } from "../../container/volumes.ts";
import type { Context } from "../../context.ts";
import { DockerError } from "../../docker/docker-api.ts";
import { CommandError, ConnectionError, ProgramEnd } from "../../output/command-error.ts";
import { hasEnded } from "../../program/give-up.ts";
import { carryStreams } from "../../program/carry-streams.ts";
import { portError, startError } from "../../program/start-error.ts";
import { noteStart } from "../../state/started.ts";
import { isatty } from "node:tty";

/** Bytes of output before it breaks off, if it does. */
export const truncatedAfterBytes = 512;

/** A terminal together with input requires that the caller has a terminal. */
export function checkTerminal(terminal: boolean, input: boolean): void {
  if (!terminal || !input || isatty(0)) return;
  throw new CommandError("unknown", "The operation couldn\u2019t be completed. Inappropriate ioctl for device");
}

/** Two running containers may share a volume only if both mount it read-only. */
async function refuseSharedVolumes({ containers }: Context, { mounts }: Configuration): Promise<void> {
  const wanted = mounts.filter(({ kind }) => kind === "volume");
  if (wanted.length === 0) return;
  const running = (await containers.list()).filter(({ status }) => status.state === "running");
  const held = running.flatMap(({ configuration }) => configuration.mounts);
  const isReadOnly = (mount: Mount): boolean => mount.options.includes("ro");
  const clash = wanted.some((mount) =>
    held.some((other) => other.volume === mount.volume && !(isReadOnly(mount) && isReadOnly(other))),
  );
  if (!clash) return;
  const text = 'Error Domain=VZErrorDomain Code=2 "The storage device attachment is invalid."';
  throw new CommandError("internalError", "failed to bootstrap container", new CommandError("unknown", text));
}

/** Starts the container's own program; a failure is reported in the version's words. */
export async function startProgram(context: Context, configuration: Configuration): Promise<void> {
  const { api, containers, fault, folder } = context;
  await refuseSharedVolumes(context, configuration);
  const { argv, id, ports } = configuration;
  if (fault === "port-denied" && ports.length > 0) {
    const reason = new CommandError("unknown", "bind(descriptor:ptr:bytes:): Permission denied (errno: 13)");
    throw new CommandError("internalError", "failed to bootstrap container", reason);
  }
  try {
    await api.json("POST", `/containers/${containers.nameOf(id)}/start`);
    noteStart(folder, id);
  } catch (error) {
    if (!(error instanceof DockerError)) throw error;
    throw portError(error.message) ?? startError(error.message, id, argv[0] ?? "", id);
  }
}

/** The first process as this machine sees it, where Docker is on this machine. */
async function pidOf({ api, settings }: Context, name: string): Promise<number | undefined> {
  if (!settings.dockerHost.startsWith("unix:")) return undefined;
  try {
    const { State } = await api.json<{ State: { Pid: number } }>("GET", `/containers/${name}/json`);
    return State.Pid === 0 ? undefined : State.Pid;
  } catch {
    return undefined;
  }
}

/** Runs the container's own program with the command's streams, and ends as it does. */
export async function runInForeground(context: Context, configuration: Configuration, input: boolean): Promise<never> {
  const { api, containers, fault, signals } = context;
  const { id, terminal, remove } = configuration;
  checkTerminal(terminal, input);
  const name = containers.nameOf(id);
  const attached = await api.hijack(`/containers/${name}/attach?stream=1&stdout=1&stderr=1&stdin=${input ? 1 : 0}`, {});
  const ended = api.json<{ readonly StatusCode: number }>(
    "POST",
    `/containers/${name}/wait?condition=${remove ? "removed" : "next-exit"}`,
  );
  ended.catch(() => {
    // Reported where it is awaited, unless something else has failed before.
  });
  await startProgram(context, configuration);
  signals.programStarted((signal) => void api.json("POST", `/containers/${name}/kill?signal=${signal}`));
  if (fault === "interrupted") throw new ConnectionError("interrupted");
  const pid = await pidOf(context, name);
  await carryStreams(attached, {
    // Docker holds up everything that concerns the container until its remaining output is read.
    isOver: () => pid !== undefined && hasEnded(pid),
    terminal,
    input,
    outputLimit: fault === "truncated" ? truncatedAfterBytes : undefined,
  });
  const { StatusCode } = await ended;
  if (fault === "truncated") throw new CommandError("unknown", "failed to exec process CancellationError()");
  throw new ProgramEnd(StatusCode);
}
