import { placeOf, type CallSignal, type CallOptions, type PlaceSource } from "./call-options.ts";
import type { ProcessDetails, StartedProcess, StoppedProcess, WrittenInput } from "./generated/results.ts";
import { pause } from "./pause.ts";
import {
  listProcessesContract,
  stopProcessContract,
  writeStdinContract,
  startProcessContract,
} from "../../operations/processes-contract.ts";
import type { Calls } from "./calls.ts";
import type { ProcessOptions, ProcessOutputOptions, StopProcessOptions } from "./generated/options.ts";
import { withCommand } from "./with-command.ts";

/** A piece of what a background process wrote. */
export interface ProcessChunk {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  /** Bytes of the stream before this piece that were dropped before they could be read. */
  readonly droppedBytes: number;
}

/** Delays between requests while there is nothing new. */
const [minPauseMs, maxPauseMs] = [50, 1000];

interface Offsets {
  readonly stdoutOffset: number;
  readonly stderrOffset: number;
}

/** Background processes of a session or an environment: they keep running after the call that started them. */
export class Processes {
  readonly #calls: Calls;
  readonly #place: PlaceSource;

  /** @internal */
  constructor(calls: Calls, place: PlaceSource) {
    this.#calls = calls;
    this.#place = place;
  }

  /**
   * Starts a process: a shell line, or a program and its arguments; its `ports` are reachable at the URLs in its details.
   * @throws NOT_FOUND, and what starting a sandbox throws
   */
  async start(options: string | readonly string[] | ProcessOptions, call?: CallOptions): Promise<Process> {
    const place = await placeOf(this.#place, call);
    const details = await this.#calls.send(startProcessContract, { ...withCommand(options), ...place }, call);
    return new Process(this.#calls, place, details.processId, details);
  }

  /** All of them here, each with its state and ports. */
  async list(call?: CallOptions): Promise<readonly ProcessDetails[]> {
    return (await this.#calls.send(listProcessesContract, await placeOf(this.#place, call), call)).processes;
  }

  /** A process by its id. Sends no request. */
  get(processId: string): Process {
    return new Process(this.#calls, this.#place, processId, null);
  }
}

/** One background process. `await using` ends it. */
export class Process implements AsyncDisposable {
  readonly id: string;
  /** The answer of the call that started it; null if it was opened by its id. */
  readonly details: StartedProcess | null;
  readonly #calls: Calls;
  readonly #place: PlaceSource;

  /** @internal */
  constructor(calls: Calls, place: PlaceSource, id: string, details: StartedProcess | null) {
    this.#calls = calls;
    this.#place = place;
    this.id = id;
    this.details = details;
  }

  /** Its state, and part of its output, from the given offsets; pass `nextOffset` of the last answer to continue. */
  async read(options: ProcessOutputOptions = {}, call?: CallOptions): Promise<ProcessDetails> {
    const request = { ...options, ...(await placeOf(this.#place, call)), processId: this.id };
    const { processes } = await this.#calls.send(listProcessesContract, request, call);
    return processes[0] as ProcessDetails;
  }

  /**
   * What it has written and still writes, until it ends: polled, at most once a second while there is no output. The
   * server keeps the newest 256 KiB of each stream; `droppedBytes` says what a slow reader missed.
   */
  output(call?: Pick<CallOptions, "signal">): AsyncGenerator<ProcessChunk, undefined> {
    return followProcess((offsets) => this.read(offsets, call), call?.signal);
  }

  /** Writes text to its standard input, at most 1 MiB, and ends that input when asked. */
  async write(
    text: string,
    { close, ...call }: CallOptions & { readonly close?: boolean } = {},
  ): Promise<WrittenInput> {
    const request = { ...(await placeOf(this.#place, call)), processId: this.id, text, close };
    return this.#calls.send(writeStdinContract, request, call);
  }

  /** Ends it and everything it started, or sends it a signal. */
  async stop(options: StopProcessOptions = {}, call?: CallOptions): Promise<StoppedProcess> {
    const request = { ...options, ...(await placeOf(this.#place, call)), processId: this.id };
    return this.#calls.send(stopProcessContract, request, call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Output from its beginning to the end of both streams. @throws CANCELLED */
async function* followProcess(
  read: (offsets: Offsets) => Promise<ProcessDetails>,
  signal: CallSignal | undefined,
): AsyncGenerator<ProcessChunk, undefined> {
  const next = { stdout: 0, stderr: 0 };
  let pauseMs = minPauseMs;
  for (;;) {
    const details = await read({ stdoutOffset: next.stdout, stderrOffset: next.stderr });
    let isNew = false;
    for (const stream of ["stdout", "stderr"] as const) {
      const part = details[stream];
      if (part === undefined || part.nextOffset === next[stream]) continue;
      isNew = true;
      const droppedBytes = Math.max(0, part.offset - next[stream]);
      next[stream] = part.nextOffset;
      yield { stream, text: part.text, droppedBytes };
    }
    if (isNew) pauseMs = minPauseMs;
    else if (details.stdout?.isOver !== false && details.stderr?.isOver !== false) return;
    else {
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  }
}
