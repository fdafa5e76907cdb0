import { GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import { frameLimits, ends, spawnFlags } from "../frames/frame-table.ts";
import { Writable } from "node:stream";
import type { FrameFields } from "../frames/frame.ts";
import type { LeftProcesses } from "../frames/tree-records.ts";
import type { OutputStream, TerminalSize } from "../../engine.ts";
import { OutputPieces } from "./channel-output.ts";
import {
  readEnd,
  unexpected,
  type ChannelStream,
  type Loss,
  type StreamEnd,
  type StreamFrame,
  type StreamLink,
} from "./stream.ts";

/** What a program is started with; nothing is added to it. */
interface ProgramStrings {
  /** Program and arguments; a program without a slash is looked up in the PATH of its variables. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute path of the folder that it starts in. */
  readonly folder: string;
}

/** Most arguments, and most variables. */
const maxStrings = 65_535;

/** What a kernel says as E2BIG; no frame has more than Linux takes with its usual stack. */
export function argumentsTooLong(program: string): GloveboxError {
  return new GloveboxError(
    "INVALID_REQUEST",
    `command: expected arguments and variables that Linux takes, usually at most 131071 bytes each and 2 MiB together (8 bytes more for each), got more for ${JSON.stringify(program.slice(0, 100))} (E2BIG).`,
    {
      suggestion: "Pass data on standard input or in a file, or run the program several times with fewer arguments.",
      context: { field: "command", reason: "E2BIG" },
    },
  );
}

/** A program to start. */
export interface ProgramRequest extends ProgramStrings {
  readonly user: number;
  readonly group: number;
  /** Its input, output and errors are one terminal of this size; default: they are pipes. */
  readonly terminal?: TerminalSize | undefined;
  /** Whether it waits for `release`; default false. */
  readonly isHeld?: boolean | undefined;
  /** Whether it keeps those of CHOWN, DAC_OVERRIDE, FOWNER, SETUID and SETGID that pid 1 has, as setup commands of user 0 do; default false. */
  readonly isSetup?: boolean | undefined;
}

/** How a program began. */
type ProgramStart =
  | { readonly isStarted: true; /** Inside. */ readonly pid: number }
  | { readonly isStarted: false; readonly end: StreamEnd };

/** How a program ended, not its tree. */
export interface ProgramExit {
  /** 0 when a signal ended it. */
  readonly code: number;
  /** 0: none. */
  readonly signal: number;
  /** Of it and of what it waited for. */
  readonly cpuTimeMs: number;
  /** The largest resident set of one of these processes. */
  readonly maxResidentBytes: number;
}

/** How a program's tree ended. */
interface TreeEnd {
  readonly cpuTimeMs: number;
  readonly maxResidentBytes: number;
}

/** SIGKILL, as the exit of a program that ended with its sandbox. */
const killed: ProgramExit = { code: 0, signal: 9, cpuTimeMs: 0, maxResidentBytes: 0 };

/** Fields of the frame that starts it, and its strings. @throws INVALID_REQUEST */
export function spawnFrame(request: ProgramRequest): {
  readonly fields: FrameFields<"SPAWN">;
  readonly strings: Buffer;
} {
  const { user, group, terminal, command, environment } = request;
  const strings = spawnStrings(request);
  const flags =
    spawnFlags.INPUT |
    (terminal === undefined ? 0 : spawnFlags.TERMINAL) |
    (request.isHeld === true ? spawnFlags.HELD : 0) |
    (request.isSetup === true ? spawnFlags.SETUP : 0);
  const { rows, columns } = terminal ?? { rows: 0, columns: 0 };
  const counts = { argumentCount: command.length, variableCount: Object.keys(environment).length };
  return { fields: { user, group, flags, rows, columns, ...counts, stringsBytes: strings.length }, strings };
}

/** A program with all that it starts, over its stream. */
export class Program implements ChannelStream {
  /** Ending it gives the program end-of-file. What is written to a program that has ended is thrown away. */
  readonly stdin: Writable;
  /** Must be read, or turned away from. With a terminal all of it is `stdout`. */
  readonly output: OutputPieces;
  /** Rejects only when the sandbox was lost before. */
  readonly started: Promise<ProgramStart>;
  /** Its own end; rejects with SANDBOX_LOST when that is not known, also when it was never started. */
  readonly exit: Promise<ProgramExit>;
  /** When nothing of its tree is left; rejects when that is not certain. */
  readonly ended: Promise<TreeEnd>;
  readonly #link: StreamLink;
  readonly #request: ProgramRequest;
  readonly #started = Promise.withResolvers<ProgramStart>();
  readonly #exit = Promise.withResolvers<ProgramExit>();
  readonly #ended = Promise.withResolvers<TreeEnd>();
  readonly #open: Set<OutputStream>;
  readonly #release: (() => void) | undefined;
  #state: "starting" | "running" | "exited" | "ended" = "starting";

  /** `strings` are those of its request. */
  constructor(link: StreamLink, request: ProgramRequest, strings: Buffer) {
    this.#link = link;
    this.#request = request;
    this.started = this.#started.promise;
    this.exit = this.#exit.promise;
    this.ended = this.#ended.promise;
    for (const promise of [this.started, this.exit, this.ended]) {
      promise.catch(() => {
        // A rejection that no caller awaits must not end the server.
      });
    }
    this.output = new OutputPieces(link.consumed);
    this.#open = new Set<OutputStream>(request.terminal === undefined ? ["stdout", "stderr"] : ["stdout"]);
    link.input.write(strings, () => undefined);
    if (request.isHeld === true) this.#release = link.input.gate(() => link.send("RELEASE", {}));
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => link.input.write(chunk, () => done()),
      final: (done) =>
        link.input.after(
          () => link.send("INPUT_END", {}),
          () => done(),
        ),
    });
    this.stdin.on("error", () => {
      // Its end is told by `exit`.
    });
  }

  /** Whether nothing of it lives any more. */
  get isGone(): boolean {
    return this.#state === "ended";
  }

  /** Whether the program itself has ended; its tree may live. */
  get hasExited(): boolean {
    return this.#state === "exited" || this.#state === "ended";
  }

  /** Lets a held program begin, after its strings and before its input. */
  release(): void {
    this.#release?.();
  }

  /** @throws RangeError for a size that is no number of 16 bits */
  resize({ rows, columns }: TerminalSize): void {
    if (this.#request.terminal !== undefined && this.#state !== "ended") this.#link.send("RESIZE", { rows, columns });
  }

  /** Sends one signal to the program alone, or to all of its tree. */
  signal(signal: number, to: "program" | "tree"): void {
    if (this.#state !== "ended") this.#link.send("SIGNAL", { signal, scope: to === "tree" ? 1 : 0 });
  }

  /** SIGTERM to all of the tree, SIGKILL after the grace (0: at once); resolves when nothing is left. */
  endTree(graceMs: number): Promise<TreeEnd> {
    if (this.#state !== "ended") this.#link.send("END_TREE", { graceMs });
    // Its end is told after its output, which perhaps nobody reads.
    this.output.letGo();
    return this.ended;
  }

  /** What lives of its tree beside the program itself; none once it has ended. */
  async left(): Promise<LeftProcesses> {
    return this.#state === "ended" ? { count: 0, processes: [] } : this.#link.askLeft();
  }

  receive(frame: StreamFrame): void {
    if (frame.name === "STARTED") {
      if (this.#state !== "starting") throw unexpected(frame, "a program that has started");
      this.#state = "running";
      this.#started.resolve({ isStarted: true, pid: frame.fields.pid });
    } else if (frame.name === "OUTPUT" || frame.name === "ERROR_OUTPUT") {
      const stream = frame.name === "OUTPUT" ? "stdout" : "stderr";
      if (this.#state === "starting" || !this.#open.has(stream))
        throw unexpected(frame, "a program without that output");
      this.output.push(stream, frame.fields.tail);
    } else if (frame.name === "OUTPUT_END") {
      const stream = frame.fields.channel === 1 ? "stdout" : frame.fields.channel === 2 ? "stderr" : null;
      if (this.#state === "starting" || stream === null || !this.#open.delete(stream)) {
        throw unexpected(frame, "a program without that output");
      }
      if (this.#open.size === 0) this.output.end();
    } else if (frame.name === "EXIT") {
      this.#exited(frame.fields, frame);
    } else if (frame.name === "ENDED") {
      this.#end(readEnd(frame.fields), frame);
    } else {
      throw unexpected(frame, "a program");
    }
  }

  lose({ error, isGone }: Loss): void {
    this.#state = "ended";
    this.output.end();
    if (error === null) {
      this.#started.resolve({ isStarted: true, pid: 0 });
      this.#exit.resolve(killed);
    } else {
      this.#started.reject(error);
      this.#exit.reject(error);
    }
    if (isGone || error === null) this.#ended.resolve({ cpuTimeMs: 0, maxResidentBytes: 0 });
    else this.#ended.reject(error);
  }

  #exited({ code, signal, userUs, systemUs, maxResidentKb }: FrameFields<"EXIT">, frame: StreamFrame): void {
    if (this.#state !== "running") throw unexpected(frame, "a program that does not run");
    if (signal > maxSignal || (signal > 0 && code > 0)) throw unexpected(frame, "which is no end of a program");
    this.#state = "exited";
    const cpuTimeMs = Number(userUs + systemUs) / 1000;
    this.#exit.resolve({ code, signal, cpuTimeMs, maxResidentBytes: Number(maxResidentKb) * 1024 });
  }

  #end(end: StreamEnd, frame: StreamFrame): void {
    const state = this.#state;
    const canFail = state === "starting" || (state === "running" && this.#request.isHeld === true);
    const fits = {
      DONE: state === "exited",
      FAILED: canFail,
      REFUSED: state === "starting",
      LOST: true,
      DEADLINE: false,
      CLOSED: false,
    }[end.reason];
    if (!fits) throw unexpected(frame, `a program that is ${state}: reason ${ends[end.reason]}`);
    this.#state = "ended";
    this.output.end();
    // Of what has settled nothing changes.
    this.#started.resolve({ isStarted: false, end });
    if (state !== "exited") this.#exit.reject(end.reason === "LOST" ? lostTree() : neverStarted(end));
    this.#ended.resolve({ cpuTimeMs: Number(end.first) / 1000, maxResidentBytes: Number(end.second) * 1024 });
  }
}

/** The highest signal. */
const maxSignal = 64;

function lostTree(): GloveboxError {
  return new GloveboxError(
    "SANDBOX_LOST",
    "A program in the sandbox stopped or killed the process that watches over another, which has been ended.",
    { suggestion: "Run programs that do not trust each other in sandboxes of their own; then retry." },
  );
}

function neverStarted({ stage, errno }: StreamEnd): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The program could not be started.", { context: { stage, errno } });
}

/** Folder, arguments, variables, each ended by NUL. @throws INVALID_REQUEST for what no program can be given */
function spawnStrings({ command, environment, folder }: ProgramStrings): Buffer {
  const variables = Object.entries(environment);
  if (command.length === 0 || command.length > maxStrings) {
    throw invalidField("command", `1 to ${maxStrings} strings`, `${command.length} strings`);
  }
  if (variables.length > maxStrings) {
    throw invalidField("environment", `at most ${maxStrings} variables`, `${variables.length} variables`);
  }
  if (!folder.startsWith("/")) throw invalidField("workingDirectory", "an absolute path", folder);
  for (const [name] of variables) {
    if (name === "" || name.includes("=")) throw invalidField("environment", "names without =", name);
  }
  const strings = [folder, ...command, ...variables.map(([name, value]) => `${name}=${value}`)];
  const withNul = strings.find((text) => text.includes("\0"));
  if (withNul !== undefined) throw invalidField("command", "strings without a NUL byte", withNul);
  const bytes = Buffer.from(strings.map((text) => `${text}\0`).join(""));
  if (bytes.length > frameLimits.maxStringsBytes) {
    throw argumentsTooLong(command[0] ?? "");
  }
  return bytes;
}
