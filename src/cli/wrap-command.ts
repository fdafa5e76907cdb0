import type { Command } from "commander";
import { formatDuration } from "../base/duration.ts";
import { readHost } from "../config/host/host.ts";
import { toGloveboxError, invalidField, GloveboxError } from "../errors/glovebox-error.ts";
import { wrapServerContract, type WrapServerResponse } from "../operations/wrap-server-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exit-code.ts";
import { describeError } from "./output/error-report.ts";
import { plainLog } from "./output/plain-log.ts";
import { addWrapOptions, requestOfWrap, type WrapOptions } from "./wrap-options.ts";
import { mebibyte } from "../base/bytes.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";
import { LiveEvents } from "./output/live-events.ts";
import { ProgramOutput, type OutputStream } from "./output/program-output.ts";
import type { Readable } from "node:stream";

/** `glovebox mcp wrap`: runs any stdio MCP server in a sandbox (SPEC MC6). */
export function addMcpWrapCommand(mcp: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const command = mcp
    .command("wrap")
    .description("Run any MCP server that uses standard input and output in a sandbox, and pass the protocol through.")
    .argument(
      "<command...>",
      "what starts the server, after --: npx -y PACKAGE, uvx PACKAGE, python -m MODULE, or a program",
    );
  addWrapOptions(command)
    .addHelpText(
      "after",
      "\nPackages in the command are installed first, in a sandbox that can reach the registries; the server itself has no network unless --network says so." +
        "\nThe server ends 5 s after its client closes the input, and its sandbox with it." +
        "\nExit code: the server's own; 0 if it ended because its client disconnected, 124 timed out, 137 out of memory, 125 Glovebox failed, 2 wrong usage.",
    )
    .action(async (words: readonly string[], _: unknown, own: Command) => {
      const options = own.optsWithGlobals<WrapOptions & { readonly http?: string; readonly tools?: string }>();
      for (const name of ["http", "tools"] as const) {
        if (options[name] !== undefined) throw invalidField(`--${name}`, "to be left out of mcp wrap", options[name]);
      }
      setExitCode(await wrap(requestOfWrap(options, words, readHost().environment), io));
    });
}

async function wrap(request: Record<string, unknown>, io: CommandIo): Promise<number> {
  const checked = parseRequest(wrapServerContract, request);
  // Read from the start, to notice a client that leaves while Glovebox starts.
  const passage = passProtocol(io);
  // Loaded on use: the other commands start faster without it.
  const { openEmbeddedCaller } = await import("../library/embedded-caller.ts");
  const { call, principal, close } = await openEmbeddedCaller({
    keepsWarm: false,
    openLog: () => plainLog(process.stderr),
  });
  try {
    const { stdin, signal, onEvent } = passage;
    const response = await call(wrapServerContract, checked, { principal, stdin, signal, onEvent });
    return conclude(response, passage, io);
  } catch (error) {
    if (!passage.signal.aborted) throw error;
    return endedBy(passage, io);
  } finally {
    await close();
  }
}

/** The verdict, on stderr; determines the exit code. */
function conclude(response: WrapServerResponse, passage: ProtocolPassage, io: CommandIo): number {
  passage.warnAll(response);
  io.stderr.write(passage.lastWords());
  const { outcome, error, exit_code: code, duration_ms: durationMs } = response;
  if (outcome === "cancelled") return endedBy(passage, io);
  if (error !== undefined) io.stderr.write(describeError(error, { stream: io.stderr, shown: passage.shown }));
  else
    io.stderr.write(`glovebox: the server ended by itself, exit code ${code}, after ${formatDuration(durationMs)}.\n`);
  return exitCodeOf(response);
}

/** Why this side ended it. */
function endedBy({ signal }: ProtocolPassage, io: CommandIo): number {
  const reason: unknown = signal.reason;
  if (!(reason instanceof PassageEnd)) {
    io.stderr.write("glovebox: the server was stopped by a signal.\n");
    return typeof reason === "number" ? reason : exitCodes.platformFailed;
  }
  if (reason.error === null) {
    io.stderr.write("glovebox: the server was ended because its client disconnected.\n");
    return 0;
  }
  const known = toGloveboxError(reason.error);
  io.stderr.write(describeError(known.toWire()));
  return exitCodeOfError(known);
}

/** Longest message of a server, and maximum buffered input: as for our own server. */
const maxMessageBytes = 64 * mebibyte;
/** Maximum buffered stderr of a server while the client does not read it. */
const maxDiagnosticBytes = mebibyte;
/** How long a server may continue after its client has left. */
const graceMs = 5_000;

/** Between an MCP client, on this process's own streams, and a server in a sandbox. */
interface ProtocolPassage {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Ends the server. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: OperationEvent) => void | Promise<void>;
  /** Already reported, as warnings. */
  readonly shown: ReadonlySet<string>;
  /** Reports the warnings of the result. */
  readonly warnAll: LiveEvents["warnAll"];
  /** What the user is told at the end in addition to the verdict; may be empty. */
  lastWords(): string;
}

/** Why the relay ended the server; none: its client has left. */
class PassageEnd {
  readonly error: GloveboxError | null;

  constructor(error: GloveboxError | null) {
    this.error = error;
  }
}

/**
 * Relays bytes in both directions, untouched and as fast as each end takes them, and ends the server after its client.
 */
function passProtocol(io: CommandIo): ProtocolPassage {
  const ending = new AbortController();
  const end = (error: GloveboxError | null): void => ending.abort(new PassageEnd(error));
  const grace = new Grace(() => end(null));
  const stdin = new ClientInput(io.stdin, {
    maxWaitingBytes: maxMessageBytes,
    onLeft: () => grace.clientLeft(),
    onTooMuch: () => end(unread()),
  });
  const stdout = new ProgramOutput(io.stdout);
  const stderr = new DiagnosticOutput(io.stderr, maxDiagnosticBytes);
  const lines = new LineBound(maxMessageBytes);
  const live = new LiveEvents(io.stderr, {
    onOutput: async ({ stream, bytes }) => {
      if (stream === "stderr") return stderr.write(bytes);
      if (!lines.holds(bytes)) return end(tooLong());
      await stdout.write(bytes);
    },
  });
  return {
    stdin,
    signal: AbortSignal.any([io.signal, ending.signal]),
    onEvent: (event) => {
      if (event.type === "sandbox") grace.serverStarts();
      return live.onEvent(event);
    },
    shown: live.shown,
    warnAll: (response) => live.warnAll(response),
    lastWords: () => {
      live[Symbol.dispose]();
      const { droppedBytes: dropped } = stderr;
      return dropped === 0
        ? ""
        : `glovebox: ${dropped} bytes of the server's stderr were dropped because they were not read.\n`;
    },
  };
}

/** Counts from when the server starts and its client has left, whichever is later: packages are installed to the end. */
class Grace {
  readonly #onOver: () => void;
  readonly #missing = new Set(["client", "server"]);

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  clientLeft(): void {
    this.#came("client");
  }

  serverStarts(): void {
    this.#came("server");
  }

  #came(what: string): void {
    if (this.#missing.delete(what) && this.#missing.size === 0) setTimeout(this.#onOver, graceMs).unref();
  }
}

function tooLong(): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `The server was killed: it wrote a message of more than ${maxMessageBytes} bytes.`,
    { suggestion: "MCP messages cannot be that large: ask the server for less at once." },
  );
}

function unread(): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `The server was killed: more than ${maxMessageBytes} bytes of its input were unread.`,
    { suggestion: "Send less at once, or restart the server." },
  );
}

interface ClientInputOptions {
  /** Maximum bytes buffered for the server. */
  readonly maxWaitingBytes: number;
  /** Called once, when the client has closed its end. */
  readonly onLeft: () => void;
  /** Called once, if the buffer overflows; what comes after that is dropped. */
  readonly onTooMuch: () => void;
}

/** What the client sends, read as it comes, so that its end is noticed even while the server takes nothing. */
export class ClientInput implements AsyncIterable<Uint8Array> {
  readonly #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isOver = false;
  #wake = (): void => undefined;

  constructor(stream: Readable, { maxWaitingBytes, onLeft, onTooMuch }: ClientInputOptions) {
    const end = (): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#wake();
      onLeft();
    };
    stream.on("data", (chunk: Uint8Array) => {
      if (this.#isOver) return;
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
      this.#wake();
      if (this.#waitingBytes <= maxWaitingBytes) return;
      this.#isOver = true;
      onTooMuch();
    });
    for (const event of ["end", "close", "error"] as const) stream.once(event, end);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#waiting.shift();
      if (chunk !== undefined) {
        this.#waitingBytes -= chunk.length;
        yield chunk;
        continue;
      }
      if (this.#isOver) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }
}

const newline = 0x0a;

/** The longest line so far, in bytes. */
export class LineBound {
  readonly #maxBytes: number;
  #lineBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts more bytes; returns whether every line so far, including the unfinished one, is within the bound. */
  holds(bytes: Uint8Array): boolean {
    const first = bytes.indexOf(newline);
    const upToFirst = this.#lineBytes + (first === -1 ? bytes.length : first);
    this.#lineBytes = first === -1 ? upToFirst : bytes.length - 1 - bytes.lastIndexOf(newline);
    return upToFirst <= this.#maxBytes;
  }
}

/** Relays a server's stderr; what a client does not read is dropped, so that it never blocks the protocol. */
export class DiagnosticOutput {
  readonly #target: OutputStream;
  readonly #output: ProgramOutput;
  readonly #maxWaitingBytes: number;
  /** Bytes dropped because they were not read in time. */
  droppedBytes = 0;

  constructor(target: OutputStream, maxWaitingBytes: number) {
    this.#target = target;
    this.#output = new ProgramOutput(target);
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#target.writableLength > this.#maxWaitingBytes) this.droppedBytes += bytes.length;
    else this.#output.offer(bytes);
  }
}
