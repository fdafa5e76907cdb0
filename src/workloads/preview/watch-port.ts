import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { probePort, type PortProbe, type PortState } from "../../ingress/probe-port.ts";

/** What a port that does not answer looks like. */
export type SilentState = Extract<PortState, "closed" | "silent">;

export interface PortWatch {
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
