import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { probePort, type PortState } from "../../ingress/probe-port.ts";

export interface PortWatch {
  readonly port: number;
  readonly connect: (signal: AbortSignal) => Promise<Duplex>;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** The port answers, for the first time or after an interruption. */
  readonly onAnswer: () => void;
  /** It does not answer in time, or has stopped answering. */
  readonly onSilence: (state: Exclude<PortState, "answers">, hasAnswered: boolean) => void;
  readonly monotonicMs: () => number;
}

/** How long a program may take to answer at its port before that is an error; it may still start answering later. */
export const startWithinMs = 120_000;
const lookEachMs = { starting: 250, running: 5_000 } as const;
/** How many consecutive checks of a closed port it takes before a server counts as gone: it may restart itself. */
const maxClosed = 3;

/** Polls a port until it answers, and then checks from time to time whether it still accepts connections. */
export async function watchPort(watch: PortWatch): Promise<void> {
  const { signal } = watch;
  try {
    for (let hasAnswered = false; !signal.aborted; hasAnswered = true) {
      await untilAnswer(watch, hasAnswered);
      watch.onAnswer();
      await untilClosed(watch);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function untilAnswer(watch: PortWatch, hasAnswered: boolean): Promise<void> {
  const { port, connect, signal, onSilence, monotonicMs } = watch;
  const lateMs = monotonicMs() + startWithinMs;
  let isTold = false;
  for (;;) {
    const state = await probePort(port, connect, signal);
    signal.throwIfAborted();
    if (state === "answers") return;
    if (!isTold && (hasAnswered || monotonicMs() >= lateMs)) {
      isTold = true;
      onSilence(state, hasAnswered);
    }
    await sleep(lookEachMs.starting, undefined, { signal });
  }
}

async function untilClosed({ connect, signal }: PortWatch): Promise<void> {
  for (let closed = 0; closed < maxClosed;) {
    await sleep(closed === 0 ? lookEachMs.running : lookEachMs.starting, undefined, { signal });
    closed = (await isOpen(connect, signal)) ? 0 : closed + 1;
  }
}

async function isOpen(connect: PortWatch["connect"], signal: AbortSignal): Promise<boolean> {
  try {
    const connection = await connect(signal);
    connection.on("error", () => undefined).destroy();
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
