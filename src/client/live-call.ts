import { GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationCall, OperationContract } from "../operations/contract/operation-contract.ts";
import {
  firstLiveCredit,
  liveEventSchema,
  maxLiveBytes,
  liveCreditPortion,
  liveStreams,
  type ClientMessage,
  type LiveEvent,
} from "../operations/contract/wire-messages.ts";
import { cutAnswer, strangeAnswer, checkedResponse, errorOfWire, eventOf } from "./wire-call.ts";

interface LiveOutputOptions {
  /** Awaited before more is requested. */
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  /** Lets the server send this many more bytes. */
  readonly onGrant: (bytes: number) => void;
  /** The reader has failed. */
  readonly onFailed: (error: unknown) => void;
}

/** Output in order of arrival, at the reader's pace; never more is buffered than was granted. */
class LiveOutput {
  readonly #options: LiveOutputOptions;
  #credit = firstLiveCredit;
  #taken = 0;
  #isDiscarded = false;
  #last: Promise<void> = Promise.resolve();

  constructor(options: LiveOutputOptions) {
    this.#options = options;
  }

  /** One message. @throws NETWORK_ERROR for more than was granted, and for anything that is not output */
  receive(message: Uint8Array): void {
    const bytes = message.subarray(1);
    this.#credit -= bytes.length;
    if (this.#credit < 0) throw strangeAnswer("more output than was granted");
    const stream = message[0] === liveStreams.stdout ? "stdout" : "stderr";
    if (stream === "stderr" && message[0] !== liveStreams.stderr) throw strangeAnswer("output of no stream");
    this.between(async () => {
      if (!this.#isDiscarded) await this.#options.onOutput(stream, bytes);
      this.#take(bytes.length);
    });
  }

  /** Something to do once all output before it has been read. */
  between(work: () => unknown): void {
    this.#last = this.#last.then(async () => void (await work()));
    this.#last.catch(this.#options.onFailed);
  }

  /** The reader gets nothing more. */
  discard(): void {
    this.#isDiscarded = true;
  }

  #take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < liveCreditPortion) return;
    this.#credit += this.#taken;
    this.#options.onGrant(this.#taken);
    this.#taken = 0;
  }
}

/** How long the server may take to end an aborted call before the connection is closed. */
const endWithinMs = 10_000;
/** WebSocket close code: the server refuses, and says why. */
const refused = 1008;

/** A call, and the error for a connection that closed before its answer; default: NETWORK_ERROR. */
interface LiveCallOptions extends OperationCall {
  readonly onBroken?: (() => GloveboxError) | undefined;
}

/** The part of a WebSocket that is used here, whichever implementation it is. */
type LiveSocket = Pick<WebSocket, "send" | "close" | "readyState" | "OPEN" | "CONNECTING"> & {
  binaryType: string;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
};

/**
 * One call over an operation's channel: input is sent as fast as the server takes it, output is read as fast as the
 * caller does. An abort ends the program; the call settles once the server confirms that, or the connection is closed.
 * @throws GloveboxError: the server's own, CANCELLED, NETWORK_ERROR
 */
export async function liveCall(
  socket: LiveSocket,
  contract: OperationContract,
  request: object,
  call: LiveCallOptions,
): Promise<unknown> {
  return new LiveCall(socket, contract, call).run(request);
}

class LiveCall {
  readonly #socket: LiveSocket;
  readonly #contract: OperationContract;
  readonly #call: LiveCallOptions;
  readonly #over = new AbortController();
  readonly #answer = Promise.withResolvers<unknown>();
  readonly #output: LiveOutput;
  readonly #isOver = Promise.withResolvers<null>();
  #credit = firstLiveCredit;
  #granted: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(socket: LiveSocket, contract: OperationContract, call: LiveCallOptions) {
    this.#socket = socket;
    this.#contract = contract;
    this.#call = call;
    this.#output = new LiveOutput({
      onOutput: (stream, bytes) => call.onEvent?.({ type: "output", stream, bytes }),
      onGrant: (bytes) => this.#send({ type: "credit", bytes }),
      onFailed: (error) => this.#answer.reject(error),
    });
    // Keeps a rejection that comes before anyone awaits it from counting as unhandled.
    this.#answer.promise.catch(() => undefined);
  }

  async run(request: object): Promise<unknown> {
    const { signal } = this.#call;
    const giveUp = (): void => this.#giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    this.#listen(request);
    if (signal?.aborted === true) giveUp();
    try {
      return await this.#answer.promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
      this.#over.abort();
      this.#isOver.resolve(null);
      this.#granted.resolve();
      this.#socket.close();
    }
  }

  #listen(request: object): void {
    const socket = this.#socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.#send({ type: "start", request: { ...request } });
      const { sizes, signals } = this.#call;
      void this.#feed();
      void this.#pass(sizes, ({ columns, rows }) => ({ type: "resize", columns, rows }));
      void this.#pass(signals, (wanted) => ({ type: "signal", signal: wanted }));
    });
    socket.addEventListener("message", ({ data }) => this.#receive(data as string | ArrayBuffer));
    socket.addEventListener("close", ({ code, reason }) => this.#end(this.#failure(code, reason)));
  }

  #receive(data: string | ArrayBuffer): void {
    try {
      if (typeof data !== "string") return this.#output.receive(new Uint8Array(data));
      const parsed = liveEventSchema.safeParse(JSON.parse(data));
      // Messages that this version does not know are ignored.
      if (parsed.success) this.#obey(parsed.data);
    } catch (error) {
      this.#answer.reject(error instanceof GloveboxError ? error : strangeAnswer("a message of another form", error));
    }
  }

  #obey(event: LiveEvent): void {
    switch (event.event) {
      case "credit":
        this.#credit += event.bytes;
        return this.#granted.resolve();
      case "result":
        return this.#output.between(() => this.#answer.resolve(checkedResponse(this.#contract, event.result)));
      case "error":
        return this.#end(errorOfWire(event.error));
      case "terminal":
        return this.#output.between(() => this.#call.onEvent?.({ type: "terminal" }));
      case "sandbox":
      case "output":
      case "denied":
      case "progress":
      case "warning":
        return this.#output.between(() => this.#call.onEvent?.(eventOf(event)));
    }
  }

  /** After the output that is still being read; a caller that has aborted reads no more. */
  #end(error: GloveboxError): void {
    if (this.#call.signal?.aborted === true) this.#answer.reject(error);
    else this.#output.between(() => this.#answer.reject(error));
  }

  #failure(code: number, reason: string): GloveboxError {
    const { signal, onBroken = cutAnswer } = this.#call;
    if (signal?.aborted === true) return givenUp(signal.reason);
    if (code !== refused) return onBroken();
    return new GloveboxError("PERMISSION_DENIED", `The server ended the call: ${reason}.`, {
      suggestion: "Check that the key is still valid, and that client and server have the same version.",
    });
  }

  #giveUp(): void {
    this.#output.discard();
    this.#send({ type: "cancel" });
    const { signal } = this.#call;
    const timer = setTimeout(() => this.#answer.reject(givenUp(signal?.reason)), endWithinMs);
    this.#over.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    // The server has nothing to end yet.
    if (this.#socket.readyState === this.#socket.CONNECTING) this.#answer.reject(givenUp(signal?.reason));
  }

  async #feed(): Promise<void> {
    const source = this.#call.stdin?.[Symbol.asyncIterator]();
    try {
      while (source !== undefined && !this.#over.signal.aborted) {
        // Does not wait for a source that is itself still waiting for input.
        const next = await Promise.race([source.next(), this.#isOver.promise]);
        if (next === null || next.done === true) break;
        await this.#sendInput(next.value);
      }
    } catch {
      // A source that fails ends the input; the program continues.
    }
    void source?.return?.();
    this.#send({ type: "input_end" });
  }

  async #sendInput(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length && !this.#over.signal.aborted;) {
      if (this.#credit === 0) {
        await this.#granted.promise;
        this.#granted = Promise.withResolvers();
        continue;
      }
      const piece = chunk.slice(at, at + Math.min(this.#credit, maxLiveBytes));
      at += piece.length;
      this.#credit -= piece.length;
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(piece);
    }
  }

  async #pass<T>(values: AsyncIterable<T> | undefined, messageOf: (value: T) => ClientMessage): Promise<void> {
    try {
      for await (const value of values ?? []) this.#send(messageOf(value));
    } catch {
      // The source has failed: nothing more will come from it.
    }
  }

  #send(message: ClientMessage): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

function givenUp(cause: unknown): GloveboxError {
  return new GloveboxError("CANCELLED", "The call was cancelled.", { cause });
}
