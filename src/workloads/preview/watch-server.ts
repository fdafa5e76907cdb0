import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { connectToProgram } from "../place/connect-to-program.ts";
import type { LaunchedProcess } from "../place/background-processes.ts";
import { runSandboxCommand, type CommandSandbox } from "../../sandbox/sandbox-command.ts";
import { silenceOf } from "./preview-problems.ts";
import type { PreviewSpec } from "./preview-spec.ts";
import { watchPort } from "./watch-port.ts";
import { networkPort } from "../../egress/network-access.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { Kit } from "../../base/kit.ts";

export interface ServerWatch extends Pick<Kit, "logger" | "monotonicMs"> {
  readonly id: string;
  readonly sandbox: CommandSandbox;
  /** Null: it has ended. */
  readonly program: () => LaunchedProcess | null;
  /** Its newest output, in which programs say where they listen. */
  readonly logs: () => string;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onAnswer: (port: number) => void;
  readonly onSilence: (problem: GloveboxError) => void;
}

/** Watches where a preview's command answers, until the signal; the end of the watch by anything else is in the log. */
export function watchServer({ port, isPortNamed }: PreviewSpec, watch: ServerWatch): void {
  const { sandbox, signal, logger, id, monotonicMs } = watch;
  let hasAnswered = false;
  const watching = watchPort({
    ...{ port, isNamed: isPortNamed, signal, monotonicMs },
    connect: (each, mine) => connectToProgram(watch.program(), each, mine),
    listening: async (mine) => likeliestFirst(await portsOf(sandbox, mine), watch.logs()),
    onAnswer: (each) => {
      hasAnswered = true;
      watch.onAnswer(each);
    },
    onSilence: (state, silent, others) => watch.onSilence(silenceOf({ state, port: silent, others, hasAnswered })),
  });
  watching.catch((error: unknown) => {
    logger.error({ sandbox: id, err: error }, "the port of a preview is not watched any more");
  });
}

/** A sandbox that has no room for one more program, or whose program spoils the answer, does not tell. */
async function portsOf(sandbox: CommandSandbox, signal: AbortSignal): Promise<readonly number[]> {
  try {
    return await listeningPorts(sandbox, { signal });
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

/** Listening sockets come first; what follows is cut. */
const maxBytes = 128 * 1024;
const readMs = 5_000;

/**
 * TCP ports at which programs of a sandbox listen, without that of its network: lowest first; none where the sandbox
 * does not tell. @throws CANCELLED, SANDBOX_LOST, and what `exec` throws
 */
async function listeningPorts(sandbox: CommandSandbox, { signal }: CallOptions): Promise<readonly number[]> {
  const command = ["cat", "/proc/net/tcp", "/proc/net/tcp6"];
  const { stdout } = await runSandboxCommand(
    sandbox,
    { command, maxOutputBytes: maxBytes, timeLimitMs: readMs },
    { signal },
  );
  return parseListeningPorts(stdout.text()).filter((port) => port !== networkPort);
}

/** Reads the kernel's table of TCP sockets, in which 0A says that one listens; each port once. */
export function parseListeningPorts(table: string): readonly number[] {
  const rows = table.matchAll(/^ {0,8}\d{1,8}: [0-9A-F]{8,32}:([0-9A-F]{4}) [0-9A-F]{8,32}:[0-9A-F]{4} 0A /gm);
  const ports = new Set([...rows].map(([, port = ""]) => Number.parseInt(port, 16)));
  return [...ports].filter((port) => port > 0).toSorted((one, other) => one - other);
}

/** The ports that a program's output names first come first: `Local: http://localhost:5173/`. */
export function likeliestFirst(ports: readonly number[], output: string): readonly number[] {
  const named = [...output.matchAll(/:(\d{1,5})(?!\d)/g)].map(([, port]) => Number(port));
  const placeOf = (port: number): number => (named.includes(port) ? named.indexOf(port) : named.length);
  return ports.toSorted((one, other) => placeOf(one) - placeOf(other));
}
