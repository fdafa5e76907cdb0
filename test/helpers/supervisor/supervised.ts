import { AssertionError } from "node:assert";
import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { encodeFrame, numbers, takeFrames, type Frame } from "./frames.ts";

/** How a supervisor is started, and what SETUP says. */
export interface SupervisedOptions {
  readonly binary: string;
  /** What the kernel is said to lack; only where the binary was built with switches for tests. */
  readonly lacks?: readonly ("no-openat2" | "no-subreaper")[];
  /** Capabilities of pid 1 beside its own, where it stands apart. */
  readonly capabilities?: readonly string[];
  /** Capabilities that pid 1 lacks there. */
  readonly without?: readonly string[];
  /** Further options of bubblewrap, such as mounts. */
  readonly mounts?: readonly string[];
  readonly apart?: boolean;
  /** A command that begins what comes behind it. */
  readonly starter?: readonly string[];
  /** What runs the binary, where the machine itself cannot. */
  readonly interpreter?: string;
  readonly setup?: Readonly<Record<string, number>>;
  readonly filter?: Uint8Array;
  /** Neither SETUP is sent nor HELLO awaited. */
  readonly raw?: boolean;
  /** No credit is given by itself. */
  readonly manualCredit?: boolean;
}

/** What one program or other stream has said so far. */
export interface StreamRecord {
  readonly frames: Frame[];
  stdout: Buffer;
  stderr: Buffer;
  /** Bytes of INPUT that may still be sent. */
  window: number;
}

/** What to spawn. */
export interface SpawnOptions {
  readonly command: readonly string[];
  readonly variables?: readonly string[];
  readonly folder?: string;
  readonly user?: number;
  readonly flags?: number;
  readonly rows?: number;
  readonly columns?: number;
}

/** Debian's links into /usr. */
export const systemLinks = ["bin", "lib", "lib64", "sbin"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]);

/** The user of programs in these tests: nobody on the host has it. */
export const programUser = 54_321;

/** A supervisor as pid 1 of a namespace that bubblewrap makes, and the host's end of its stream. */
export class Supervised extends EventEmitter implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly streams = new Map<number, StreamRecord>();
  readonly zero: Frame[] = [];
  stderr = "";
  exitCode: number | null | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #next = 1;
  readonly #manualCredit: boolean;
  readonly apart: boolean;

  private constructor(options: SupervisedOptions) {
    const { binary, mounts = [], apart = true, manualCredit = false, lacks = [], interpreter } = options;
    const { capabilities = [], without = [], starter = [] } = options;
    super();
    this.setMaxListeners(0);
    this.#manualCredit = manualCredit;
    this.apart = apart;
    const own = ["SETUID", "SETGID", "KILL", "SETPCAP", ...capabilities].filter((name) => !without.includes(name));
    const keep = apart ? own.flatMap((name) => ["--cap-add", `CAP_${name}`]) : [];
    const user = apart ? [] : ["--unshare-user", "--uid", String(programUser), "--gid", String(programUser)];
    const [program, ...first] = [...starter, "bwrap"];
    this.process = spawn(
      program,
      [
        ...first,
        ...["--die-with-parent", "--as-pid-1", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts"],
        ...user,
        ...["--cap-drop", "ALL", ...keep, "--clearenv"],
        ...["--ro-bind", "/usr", "/usr", ...systemLinks, "--ro-bind", "/etc/passwd", "/etc/passwd"],
        ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chmod", "1777", "/tmp"],
        ...mounts,
        ...["--ro-bind", binary, "/tmp/supervisor", "--setenv", "ASAN_OPTIONS", "detect_leaks=0"],
        ...(interpreter === undefined ? [] : [interpreter]),
        ...["/tmp/supervisor", ...lacks],
      ],
      // The fourth is what a starter leaves open by mistake.
      { stdio: ["pipe", "pipe", "pipe", "pipe"] },
    );
    this.process.stdin?.on("error", () => undefined);
    this.process.stdout?.on("data", (bytes: Buffer) => this.#take(bytes));
    this.process.stderr?.on("data", (bytes: Buffer) => (this.stderr += bytes.toString()));
    this.process.on("close", (code) => {
      this.exitCode = code;
      this.emit("change");
    });
  }

  /** Starts one; unless `raw`, HELLO has come. */
  static async start(options: SupervisedOptions): Promise<Supervised> {
    const made = new Supervised(options);
    if (options.raw === true) return made;
    made.send(
      encodeFrame(
        "SETUP",
        0,
        { ...setupFields(made.apart), ...options.setup },
        { tail: options.filter ?? Buffer.alloc(0) },
      ),
    );
    await made.until("HELLO", () => made.zero.some(({ name }) => name === "HELLO"));
    return made;
  }

  get hello(): Frame {
    return this.zero.find(({ name }) => name === "HELLO")!;
  }

  send(bytes: Uint8Array): void {
    this.process.stdin?.write(bytes);
  }

  frame(name: string, stream: number, fields: Readonly<Record<string, number>> = {}, tail?: Uint8Array): void {
    this.send(encodeFrame(name, stream, fields, tail === undefined ? {} : { tail }));
  }

  /** Begins a stream and gives its number. */
  begin(name: string, fields: Readonly<Record<string, number>>, tail?: Uint8Array): number {
    const stream = this.#next++;
    this.#recordOf(stream);
    this.frame(name, stream, fields, tail);
    return stream;
  }

  /** Spawns a program; its strings are sent as far as the window allows, so they are short here. */
  spawn({ command, variables = ["PATH=/usr/bin:/bin"], folder = "/", ...options }: SpawnOptions): number {
    const strings = Buffer.from([folder, ...command, ...variables].map((text) => `${text}\0`).join(""));
    const { user = programUser, flags = 0, rows = 24, columns = 80 } = options;
    const stream = this.begin("SPAWN", {
      ...{ user, group: user, flags, rows, columns },
      ...{ argumentCount: command.length, variableCount: variables.length, stringsBytes: strings.length },
    });
    this.frame("INPUT", stream, {}, strings);
    this.#recordOf(stream).window -= strings.length;
    return stream;
  }

  record(stream: number): StreamRecord {
    return this.#recordOf(stream);
  }

  has(stream: number, name: string): Frame | undefined {
    return this.#recordOf(stream).frames.find((frame) => frame.name === name);
  }

  /** Waits for a frame of a stream. */
  async got(stream: number, name: string, timeoutMs = 20_000): Promise<Frame> {
    await this.until(`${name} of ${stream}`, () => this.has(stream, name) !== undefined, timeoutMs);
    return this.has(stream, name)!;
  }

  /** Waits for ENDED, and gives what came until then. */
  async ended(
    stream: number,
    timeoutMs = 20_000,
  ): Promise<StreamRecord & { readonly end: Frame; readonly exit?: Frame }> {
    const end = await this.got(stream, "ENDED", timeoutMs);
    const exit = this.has(stream, "EXIT");
    return { ...this.#recordOf(stream), end, ...(exit === undefined ? {} : { exit }) };
  }

  /** Runs a program to its end. */
  async run(
    options: SpawnOptions,
  ): Promise<{ code: number; signal: number; stdout: string; stderr: string; end: Frame }> {
    const { stdout, stderr, end, exit } = await this.ended(this.spawn(options));
    return {
      ...{ code: exit?.fields["code"] ?? -1, signal: exit?.fields["signal"] ?? -1 },
      ...{ stdout: stdout.toString(), stderr: stderr.toString(), end },
    };
  }

  /** Waits until something is so; says what the supervisor said if it never is. */
  async until(what: string, isSo: () => boolean, timeoutMs = 20_000): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs);
    while (!isSo()) {
      if (this.exitCode !== undefined)
        throw new Error(`${what}: the supervisor exited with ${this.exitCode}: ${this.stderr}`);
      try {
        await once(this, "change", { signal });
      } catch (cause) {
        throw new AssertionError({
          message: `${what} did not come. ${this.stderr} ${this.#summary()} ${String(cause)}`,
        });
      }
    }
  }

  /** The exit code of the supervisor. */
  async exited(timeoutMs = 20_000): Promise<number | null> {
    const signal = AbortSignal.timeout(timeoutMs);
    while (this.exitCode === undefined) {
      try {
        await once(this, "change", { signal });
      } catch (cause) {
        throw new AssertionError({ message: `The supervisor did not exit. ${String(cause)}` });
      }
    }
    return this.exitCode;
  }

  async ping(): Promise<void> {
    const nonce = this.#next + 1_000_000;
    const count = this.zero.filter(({ name }) => name === "PONG").length;
    this.frame("PING", 0, { nonce });
    await this.until("PONG", () => this.zero.filter(({ name }) => name === "PONG").length > count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill("SIGKILL");
    await this.exited();
  }

  #summary(): string {
    return [...this.streams]
      .map(([stream, { frames }]) => `${stream}: ${frames.map(({ name }) => name).join(" ")}`)
      .join("; ")
      .slice(0, 2000);
  }

  #recordOf(stream: number): StreamRecord {
    let found = this.streams.get(stream);
    if (found === undefined) {
      found = { frames: [], stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), window: 65_536 };
      this.streams.set(stream, found);
    }
    return found;
  }

  #take(bytes: Buffer): void {
    const { frames, rest } = takeFrames(Buffer.concat([this.#rest, bytes]));
    this.#rest = rest;
    for (const frame of frames) this.#takeFrame(frame);
    this.emit("change");
  }

  #takeFrame(frame: Frame): void {
    if (frame.stream === 0) {
      this.zero.push(frame);
      return;
    }
    const record = this.#recordOf(frame.stream);
    if (record.frames.at(-1)?.name === "ENDED") throw new Error(`${frame.name} after ENDED`);
    if (frame.name === "CREDIT") record.window += frame.fields["bytes"] ?? 0;
    if (frame.name === "OUTPUT") record.stdout = Buffer.concat([record.stdout, frame.tail]);
    if (frame.name === "ERROR_OUTPUT") record.stderr = Buffer.concat([record.stderr, frame.tail]);
    if (frame.name === "OUTPUT" || frame.name === "ERROR_OUTPUT" || frame.name === "DATAGRAM") {
      if (!this.#manualCredit) this.frame("CREDIT", frame.stream, { bytes: creditOf(frame) });
      if (record.frames.at(-1)?.name === frame.name && frame.name !== "DATAGRAM") return;
    }
    record.frames.push(frame);
  }
}

/** What a frame of output counts against the windows: of a datagram the port too. */
function creditOf({ name, tail }: Frame): number {
  return tail.length + (name === "DATAGRAM" ? 2 : 0);
}

/** What SETUP says unless a test says otherwise. */
export function setupFields(apart: boolean): Readonly<Record<string, number>> {
  return {
    ...{ version: 1, ownUser: 0xffff_ffff, ownGroup: 0xffff_ffff, silenceMs: 600_000 },
    ...{ streamWindow: 262_144, totalWindow: 1_048_576, probe1: 500, probe2: 501, probe3: 502 },
    ...{ probeUser: programUser, probeGroup: programUser, firstTag: apart ? 0 : 0 },
  };
}

export const flags = {
  input: numbers["SPAWN_INPUT"]!,
  terminal: numbers["SPAWN_TERMINAL"]!,
  held: numbers["SPAWN_HELD"]!,
  setup: numbers["SPAWN_SETUP"]!,
} as const;
