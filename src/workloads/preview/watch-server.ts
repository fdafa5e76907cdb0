import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { BackgroundProcess, LaunchedProcess } from "../place/background-processes.ts";
import { secretWarnings } from "../run/explain-ending.ts";
import { placeOfError, type PreviewError } from "./error-scanner.ts";
import type { PreviewSpec } from "./preview-sandbox.ts";
import { connectToProgram } from "../place/program-ports.ts";
import { runSandboxCommand, type CommandSandbox } from "../../sandbox/sandbox-command.ts";
import { networkPort } from "../../egress/network-access.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { Kit } from "../../base/kit.ts";
import { request } from "node:http";
import { settlesWithin } from "../../base/abort.ts";

/** What stands at a port: nothing, something that takes connections and does not answer, a server, or one with a page. */
type PortState = "closed" | "silent" | "answers" | "page";

/** How long a first answer may take: some servers compile before it. */
const answerWithinMs = 30_000;
const maxHeadBytes = 65_536;

/** What a port that does not answer looks like. */
type SilentState = Extract<PortState, "closed" | "silent">;

interface PortWatch {
  /** Where the program should listen. */
  readonly port: number;
  /** Whether that was asked for, and is not just likely. */
  readonly isNamed: boolean;
  readonly connect: (port: number, signal: AbortSignal) => Promise<Duplex>;
  /** Ports at which anything listens, the likeliest first. */
  readonly listening: (signal: AbortSignal) => Promise<readonly number[]>;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** A port answers, for the first time, after an interruption or instead of another one. */
  readonly onAnswer: (port: number) => void;
  /** The one that should answer, or that did until now, does not; `others`: where something listens that does not answer either. */
  readonly onSilence: (state: SilentState, port: number, others: readonly number[]) => void;
  readonly monotonicMs: () => number;
}

/** How long a program may take to answer at its port before that is an error; it may still start answering later. */
export const startWithinMs = 120_000;
const lookEachMs = { starting: 250, running: 5_000 } as const;
/** How many consecutive checks of a closed port it takes before a server counts as gone: it may restart itself. */
const maxClosed = 3;
/**
 * From when on other ports are looked at, and how often; after the longer time any server is followed, before it only one
 * with a page: servers that pages ask for data often start first.
 */
export const otherPortMs = { pageAfter: 1_000, anyAfter: 5_000, each: 1_000 } as const;
/** Other ports that are looked at, and how long each may take to answer. */
const maxOthers = 8;
const otherAnswerMs = 2_000;
/** How often a page is looked for beside a server without one, at each check of that: for about a minute. */
const maxLooksForPage = 12;

/** A server that answers in HTTP. */
interface Answering {
  readonly port: number;
  readonly hasPage: boolean;
}

/**
 * Polls a port until it answers, and then checks from time to time whether it still accepts connections. While nothing
 * listens there, a server at another port is followed. A port that was named wins as soon as it answers; one that was not
 * gives way to a server with a page.
 */
export async function watchPort(watch: PortWatch): Promise<void> {
  const { signal } = watch;
  try {
    for (let before: number | null = null; !signal.aborted;) {
      let current: Answering | null = await untilAnswer(watch, before);
      while (current !== null) {
        before = current.port;
        watch.onAnswer(before);
        current = await untilClosed(watch, current);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * What a preview's caller should know about its output, one sentence each; `redaction`: of its secrets, null before its
 * start.
 */
export function hintsOf(command: string, logs: string, redaction: Redaction | null): readonly string[] {
  const isOfWebpack = logs.includes("[webpack-dev-server]") && !/web-?socket-?url/i.test(command);
  return [...(redaction === null ? [] : secretWarnings(redaction)), ...(isOfWebpack ? [webpackHint] : [])];
}

const webpackHint =
  "webpack-dev-server: its pages look for updates at the server's own port unless told otherwise: --client-web-socket-url auto://0.0.0.0:0/ws, or client.webSocketURL in devServer.";

/** Why a preview is over, for its status and for an alert. */
interface PreviewEnd {
  readonly problem: GloveboxError;
  readonly error: PreviewError;
}

/** How many of the newest lines of an ended program an alert shows. */
const maxLines = 20;

/** The command has ended, though it should serve until it is stopped. */
export function exitOf(
  { state, exitCode }: Pick<BackgroundProcess, "state" | "exitCode">,
  { isOutOfMemory, logs }: { readonly isOutOfMemory: boolean; readonly logs: string },
): PreviewEnd {
  if (isOutOfMemory) {
    const suggestion = "Give it more memory (limits.memory_mb), or let it do less.";
    return endOf(new GloveboxError("OOM_KILLED", "The preview ran out of memory.", { suggestion }), logs);
  }
  if (state === "lost") return endOf(new GloveboxError("SANDBOX_LOST", "The preview's sandbox has ended."), logs);
  const suggestion =
    exitCode === 0
      ? "Let the command stay in the foreground as long as it serves: without & and without a daemon."
      : "Correct what its output tells of, and start the preview again.";
  const message = `The preview's command has ended with exit code ${exitCode ?? "unknown"}.`;
  return endOf(new GloveboxError("INVALID_REQUEST", message, { suggestion, context: { exit_code: exitCode } }), logs);
}

/** Its dependencies could not be installed. */
export function exitOfInstallation({ errorType, message }: GloveboxError, logs: string): PreviewEnd {
  const suggestion =
    "Read `logs`; give a `setup_command` that works with the package registries alone, or an image that has what is needed.";
  return endOf(new GloveboxError(errorType, message, { suggestion }), logs);
}

/** The command serves at another port than was asked for; null where it serves there, or none was named. */
export function otherPortNote(
  { port, isPortNamed }: Pick<PreviewSpec, "port" | "isPortNamed">,
  served: number,
): string | null {
  if (!isPortNamed || served === port) return null;
  return `The command does not listen on port ${port} but on ${served}, which the preview follows; name it with port: ${served}.`;
}

/** A port that should answer, and does not. */
interface SilentPort {
  readonly state: SilentState;
  readonly port: number;
  /** Ports at which something listens that does not answer either. */
  readonly others: readonly number[];
  /** Whether it did until now. */
  readonly hasAnswered: boolean;
}

/** Its port does not answer. */
export function silenceOf({ state, port, others, hasAnswered }: SilentPort): GloveboxError {
  const seconds = startWithinMs / 1_000;
  if (hasAnswered) {
    return new GloveboxError("NETWORK_ERROR", `Port ${port} of the preview answers no more.`, {
      suggestion: "Read `logs`: the command still runs, but serves nothing.",
      context: { port },
    });
  }
  const what = state === "closed" ? "Nothing listens on" : "Something listens on, and does not answer in HTTP at,";
  const elsewhere = others.length === 0 ? "" : ` What listens on ${others.join(", ")} does not answer in HTTP.`;
  const message = `${what} port ${port} of the preview ${seconds} s after its start.${elsewhere}`;
  return new GloveboxError("NETWORK_ERROR", message, {
    suggestion:
      "Read `logs` for the port that the command chose, and name that; it may listen on localhost or on all addresses.",
    context: { port },
  });
}

interface ServerWatch extends Pick<Kit, "logger" | "monotonicMs"> {
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

/** Listening sockets come first; what follows is cut. */
const maxBytes = 128 * 1024;
const readMs = 5_000;

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

/** Resolves to what answers; `before`: the port that did until now. */
async function untilAnswer(watch: PortWatch, before: number | null): Promise<Answering> {
  const { port, isNamed, signal, onSilence, monotonicMs } = watch;
  const startMs = monotonicMs();
  let nextOthersMs = startMs + otherPortMs.pageAfter;
  let others: readonly number[] = [];
  let isTold = false;
  for (;;) {
    const state = await probePort(port, probeOf(watch, port));
    signal.throwIfAborted();
    if (isAnswer(state)) {
      const asked = { port, hasPage: state === "page" };
      return asked.hasPage || isNamed ? asked : ((await lookAtOthers(watch, "page")).found ?? asked);
    }
    if (state === "closed" && monotonicMs() >= nextOthersMs) {
      const wanted = monotonicMs() >= startMs + otherPortMs.anyAfter ? "any" : "page";
      const looked = await lookAtOthers(watch, wanted);
      if (looked.found !== null) return looked.found;
      others = looked.ports;
      nextOthersMs = monotonicMs() + otherPortMs.each;
    }
    if (!isTold && (before !== null || monotonicMs() >= startMs + startWithinMs)) {
      isTold = true;
      onSilence(state === "silent" ? "silent" : "closed", before ?? port, others);
    }
    await sleep(lookEachMs.starting, undefined, { signal });
  }
}

/** Looks where else something listens, and for a server there: one with a page, or else any if that will do. */
async function lookAtOthers(
  watch: PortWatch,
  wanted: "page" | "any",
): Promise<{ readonly found: Answering | null; readonly ports: readonly number[] }> {
  const { port, listening, signal } = watch;
  const ports = (await listening(signal)).filter((each) => each !== port).slice(0, maxOthers);
  const states = await Promise.all(ports.map((each) => probePort(each, probeOf(watch, each, otherAnswerMs))));
  signal.throwIfAborted();
  const paged = ports.find((_, index) => states[index] === "page");
  const plain = wanted === "any" ? ports.find((_, index) => states[index] === "answers") : undefined;
  const chosen = paged ?? plain;
  return { found: chosen === undefined ? null : { port: chosen, hasPage: chosen === paged }, ports };
}

/** Resolves to null when the port is closed, or to what is to be shown instead. */
async function untilClosed(watch: PortWatch, current: Answering): Promise<Answering | null> {
  const { port, isNamed, signal } = watch;
  let looks = 0;
  for (let closed = 0; closed < maxClosed;) {
    await sleep(closed === 0 ? lookEachMs.running : lookEachMs.starting, undefined, { signal });
    if (isNamed && current.port !== port) {
      const state = await probePort(port, probeOf(watch, port, otherAnswerMs));
      if (isAnswer(state)) return { port, hasPage: state === "page" };
    }
    if (!isNamed && !current.hasPage && looks++ < maxLooksForPage) {
      const { found } = await lookAtOthers(watch, "page");
      if (found !== null) return found;
    }
    closed = (await isOpen(watch, current.port)) ? 0 : closed + 1;
  }
  return null;
}

function isAnswer(state: PortState): boolean {
  return state === "answers" || state === "page";
}

async function isOpen({ connect, signal }: PortWatch, port: number): Promise<boolean> {
  try {
    const connection = await connect(port, signal);
    connection.on("error", () => undefined).destroy();
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function probeOf({ connect, signal }: PortWatch, port: number, withinMs?: number): PortProbe {
  return { connect: (each) => connect(port, each), signal, withinMs };
}

function endOf(problem: GloveboxError, logs: string): PreviewEnd {
  const lines = logs.trimEnd().split("\n").slice(-maxLines);
  return { problem, error: { nature: "exit", summary: problem.message, place: placeOfError(lines), lines } };
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

interface PortProbe {
  readonly connect: (signal: AbortSignal) => Promise<Duplex>;
  readonly signal: AbortSignal;
  /** How long an answer may take, in milliseconds; default 30,000. */
  readonly withinMs?: number | undefined;
}

/** Asks whatever listens at a port for the head of its first page; any answer in HTTP will do. */
async function probePort(port: number, { connect, signal, withinMs = answerWithinMs }: PortProbe): Promise<PortState> {
  let connection: Duplex;
  try {
    connection = await connect(signal);
  } catch {
    return "closed";
  }
  const { promise: answered, resolve } = Promise.withResolvers<PortState>();
  connection.on("error", () => resolve("silent"));
  const asked = request({
    method: "HEAD",
    path: "/",
    headers: { host: `localhost:${port}`, accept: "text/html" },
    createConnection: () => connection,
    maxHeaderSize: maxHeadBytes,
    signal,
  });
  asked.on("error", () => resolve("silent"));
  asked.on("response", ({ headers }) => resolve(isPage(headers["content-type"]) ? "page" : "answers"));
  asked.on("upgrade", () => resolve("silent"));
  asked.on("close", () => resolve("silent"));
  asked.end();
  try {
    return (await settlesWithin(answered, withinMs)) ? await answered : "silent";
  } finally {
    asked.destroy();
    connection.destroy();
  }
}

function isPage(type: string | undefined): boolean {
  return type !== undefined && /^text\/html\b/i.test(type);
}
