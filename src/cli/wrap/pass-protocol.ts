import { mebibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OperationEvent } from "../../operations/contract/operation-event.ts";
import type { CommandIo } from "../command-io.ts";
import { LiveEvents } from "../output/live-events.ts";
import { ProgramOutput } from "../output/program-output.ts";
import { ClientInput } from "./client-input.ts";
import { DiagnosticOutput, LineBound } from "./server-output.ts";

/** Longest message of a server, and maximum buffered input: as for our own server. */
const maxMessageBytes = 64 * mebibyte;
/** Maximum buffered stderr of a server while the client does not read it. */
const maxDiagnosticBytes = mebibyte;
/** How long a server may continue after its client has left. */
const graceMs = 5_000;

/** Between an MCP client, on this process's own streams, and a server in a sandbox. */
export interface ProtocolPassage {
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
export class PassageEnd {
  readonly error: GloveboxError | null;

  constructor(error: GloveboxError | null) {
    this.error = error;
  }
}

/**
 * Relays bytes in both directions, untouched and as fast as each end takes them, and ends the server after its client.
 */
export function passProtocol(io: CommandIo): ProtocolPassage {
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
