import type { Writable } from "node:stream";
import { OutputQueue } from "../../engines/output-queue.ts";
import type { OutputChunk, ProcessExit } from "../../engines/engine.ts";
import type { WireError } from "../../errors/glovebox-error.ts";
import type { TreeEnd } from "../process-tree.ts";
import { ownerLost, type PeerCall } from "./peer-call.ts";
import { errorOfWire, type CallerMessage } from "./peer-messages.ts";
import type { AddedProgram } from "./added-program.ts";

/** A program in a sandbox of another process. It ends with its connection, so also with this process. */
export class RemoteProgram implements AddedProgram {
  readonly stdin: Writable;
  readonly output: AsyncIterable<OutputChunk>;
  readonly exit: Promise<ProcessExit>;
  readonly settled: Promise<void>;
  readonly #call: PeerCall;
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #ends = new Map<number, (error: WireError | null) => void>();
  #newest = 0;
  #isOver = false;

  /** @throws what hindered its start */
  static async start(call: PeerCall): Promise<RemoteProgram> {
    await call.expect("started");
    call.keep();
    return new RemoteProgram(call);
  }

  private constructor(call: PeerCall) {
    this.#call = call;
    this.stdin = call.channel.program;
    this.output = mergedOutput(call.channel);
    this.exit = this.#exit.promise;
    this.exit.catch(() => {
      // Whoever awaits it is told.
    });
    this.settled = this.#listen();
  }

  async kill(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const error = await this.#ask(signal);
    if (error !== null) throw errorOfWire(error);
  }

  async end(): Promise<TreeEnd> {
    const error = await this.#ask("all");
    this.#call.channel.close();
    return error === null ? "clean" : "unclean";
  }

  /** What is over needs no end. */
  #ask(signal: CallerMessage["signal"]): Promise<WireError | null> {
    if (this.#isOver) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<WireError | null>();
    const call = ++this.#newest;
    this.#ends.set(call, resolve);
    this.#call.channel.send({ type: "end", call, signal } satisfies CallerMessage);
    return promise;
  }

  async #listen(): Promise<void> {
    try {
      for (let message = await this.#call.next(); message !== null; message = await this.#call.next()) {
        if (message.type === "exit") this.#exit.resolve({ exitCode: message.exit_code });
        else if (message.type === "error") this.#exit.reject(errorOfWire(message.error));
        else if (message.type === "ended") this.#ends.get(message.call)?.(message.error);
        else if (message.type === "settled") break;
      }
    } catch (error) {
      this.#exit.reject(error);
    }
    this.#isOver = true;
    this.#exit.reject(ownerLost());
    for (const ended of this.#ends.values()) ended(null);
    this.#call.channel.finish();
  }
}

/** Both streams as one, read as fast as the consumer does. */
function mergedOutput({ program, errors }: PeerCall["channel"]): AsyncIterable<OutputChunk> {
  const streams = [program, errors] as const;
  const queue = new OutputQueue(() => {
    for (const source of streams) source.resume();
  });
  let open = streams.length;
  for (const source of streams) {
    source.on("data", (bytes: Buffer) => {
      queue.push({ stream: source === program ? "stdout" : "stderr", bytes });
      if (queue.isFull) for (const each of streams) each.pause();
    });
    const over = (): void => {
      source.off("end", over).off("close", over);
      open -= 1;
      if (open === 0) queue.end();
    };
    source.once("end", over).once("close", over);
  }
  return queue;
}
