import path from "node:path";
import type { Command } from "commander";
import { readHost, type Environment } from "../config/host/host.ts";
import { invalidField, toGloveboxError, GloveboxError } from "../errors/glovebox-error.ts";
import { nameOption } from "./output/option-words.ts";
import {
  definedOnly,
  limitsOfOptions,
  parseNetworkOption,
  parseVariable,
  secretsOf,
  splitPackages,
} from "./run-options.ts";
import { formatDuration } from "../base/duration.ts";
import { wrapServerContract, type WrapServerResponse } from "../operations/wrap-server-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { plainLog, ProgramOutput, type CommandIo, type SetExitCode, type OutputStream } from "./command-io.ts";
import { exitCodeOf, exitCodeOfError, exitCodes } from "./exit-code.ts";
import { describeError } from "./output/error-report.ts";
import { mebibyte } from "../base/bytes.ts";
import type { OperationEvent } from "../operations/contract/wire-values.ts";
import { LiveEvents } from "./output/live-events.ts";
import type { Readable } from "node:stream";

/** Options of `glovebox mcp wrap` as the parser leaves them. */
export interface WrapOptions {
  readonly name?: string;
  readonly engine?: string;
  readonly minIsolation?: string;
  readonly network?: string;
  readonly mount: readonly string[];
  readonly secret: readonly string[];
  readonly env: readonly string[];
  readonly packages?: string;
  readonly image?: string;
  readonly ociRuntime?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly pids?: string;
  readonly disk?: string;
}

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** What a server may have; `--engine` and `--min-isolation` are those of `glovebox mcp`. */
export function addWrapOptions(command: Command): Command {
  return command
    .option("--network <policy>", "none, registries, open, or comma-separated domains (default: none)")
    .option(
      "--mount <path>",
      "folder or file from the mount allowlist, read-only at /workspace/extra/NAME; PATH:rw to make it writable, PATH:NAME or PATH:NAME:rw to rename it; may be repeated",
      repeated,
      [],
    )
    .option("--secret <name>", "configured secret to pass as a variable; NAME=VARIABLE to rename it", repeated, [])
    .option("--env <name>", "name of a variable in your environment, or NAME=VALUE; may be repeated", repeated, [])
    .option("--packages <list>", "packages in addition to those in the command, comma-separated")
    .option("--image <reference>", "container image")
    .option(
      "--timeout <duration>",
      "end the server after this time (default: when its client disconnects, at most 7 days)",
    )
    .option("--memory <size>", "memory, such as 512m or 1g (default: 512m)")
    .option("--cpus <number>", "CPUs' worth of time (default: 1)")
    .option("--pids <number>", "processes and threads together (default: 100)")
    .option("--disk <size>", "writable space (default: 1g)")
    .option("--oci-runtime <name>", "OCI runtime of the engine")
    .option(...nameOption);
}

const repeatable = ["mount", "secret", "env"] as const;
const single = [
  "name",
  "engine",
  "minIsolation",
  "network",
  "packages",
  "image",
  "timeout",
  "memory",
  "cpus",
  "pids",
  "disk",
  "ociRuntime",
] as const;

/**
 * The options as arguments of a command that can be started from any folder. @throws INVALID_REQUEST naming the option
 */
export function argumentsOfWrap(options: WrapOptions, workingDirectory: string): readonly string[] {
  const flag = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const mounts = options.mount.map((text) => {
    const { path: given } = parseMount(text);
    return /^~(?:[\\/]|$)/.test(given) ? text : `${path.resolve(workingDirectory, given)}${text.slice(given.length)}`;
  });
  const lists = { ...options, mount: mounts };
  return [
    ...single.flatMap((name) => (options[name] === undefined ? [] : [flag(name), options[name]])),
    ...repeatable.flatMap((name) => lists[name].flatMap((value) => [flag(name), value])),
  ];
}

/** The request that the options ask for. @throws INVALID_REQUEST naming the option */
export function requestOfWrap(
  options: WrapOptions,
  command: readonly string[],
  environment: Environment,
): Record<string, unknown> {
  const limits = limitsOfOptions(options);
  return definedOnly({
    command,
    name: options.name,
    packages: options.packages === undefined ? undefined : splitPackages(options.packages),
    environment: Object.fromEntries(options.env.map((text) => variableOf(text, environment))),
    secrets: options.secret.length > 0 ? secretsOf(options.secret) : undefined,
    mounts: options.mount.map(parseMount),
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    network: parseNetworkOption(options.network),
    image: options.image,
    engine: options.engine,
    oci_runtime: options.ociRuntime,
    min_isolation: options.minIsolation,
  });
}

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

/** Just a name: the value that this process has. */
function variableOf(text: string, environment: Environment): [string, string] {
  if (text.includes("=")) return parseVariable(text);
  const value = environment[text];
  if (value === undefined) throw invalidField("--env", "NAME=VALUE, or the name of a variable that is set", text);
  return [text, value];
}

/** `PATH[:NAME][:rw]`; the colon of a drive letter does not separate. */
function parseMount(text: string): { path: string; target?: string; read_only: boolean } {
  const { drive = "", rest = "" } = /^(?<drive>[A-Za-z]:(?=[\\/]))?(?<rest>.*)$/s.exec(text)?.groups ?? {};
  const parts = rest.split(":");
  const access = ["ro", "rw"].includes(parts.at(-1) ?? "") && parts.length > 1 ? parts.pop() : "ro";
  const [own = "", target, ...more] = parts;
  if (own === "" || target === "" || more.length > 0) {
    throw invalidField("--mount", "PATH, PATH:rw, PATH:NAME or PATH:NAME:rw", text);
  }
  return { path: `${drive}${own}`, ...(target === undefined ? {} : { target }), read_only: access === "ro" };
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
