import { settlesWithin } from "../../base/abort.ts";
import { mebibyte } from "../../base/bytes.ts";
import { execInSandboxContract, openTerminalContract } from "../../operations/live-sandbox-contract.ts";
import type { OperationEvent, SignalToSend } from "../../operations/contract/wire-values.ts";
import type { CallOperation } from "../../operations/contract/operation-contract.ts";
import type { SandboxTarget, E2bSandbox } from "../e2b-sandbox.ts";
import { ConnectError, toConnectError } from "../refusal.ts";
import { InputQueue } from "./input-queue.ts";

/** What a client asks to start. */
interface ProcessStart {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly envs: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly tag: string | undefined;
  /** Null: it has no terminal. */
  readonly pty: TerminalSize | null;
  /** Whether its input is open; otherwise it is empty. */
  readonly stdin: boolean;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** What a listener is told, in E2B's form. */
type ProcessEvent = Readonly<Partial<Record<"start" | "data" | "end", object>>>;

/** One client that follows a process; awaited, so that a slow one slows the process. */
export interface ProcessListener {
  readonly onEvent: (event: ProcessEvent) => Promise<void> | void;
  /** Once, after the last event. */
  readonly onEnd: (error: ConnectError | null) => void;
}

/** Tells its id in the sandbox in a first line, and becomes the program. */
const wrapper = 'if ! cd -- "$1" 2>/dev/null; then echo cwd; exit 1; fi; shift; printf "%s\\n" "$$"; exec "$@"';
const maxFirstLine = 32;
const maxInputBytes = 16 * mebibyte;
const maxQueued = 64;
const killedWithinMs = 5_000;
/** Signals that can be sent, with their number and E2B's word for a death by it. */
const deaths = { SIGTERM: [15, "terminated"], SIGKILL: [9, "killed"] } as const;

/** A program that a client started in a sandbox; it goes on while no client follows it. */
export class E2bProcess {
  readonly start: ProcessStart;
  readonly #listeners = new Set<ProcessListener>();
  readonly #stdin = new InputQueue<Uint8Array>(maxInputBytes, ({ length }) => length);
  readonly #signals = new InputQueue<SignalToSend>(maxQueued);
  readonly #sizes = new InputQueue<TerminalSize>(maxQueued);
  readonly #stop = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  #firstLine: Buffer | null = Buffer.alloc(0);
  #pid: number | null = null;
  #sent: keyof typeof deaths | null = null;
  #stopError: ConnectError | null = null;
  #end: { readonly event: ProcessEvent | null; readonly error: ConnectError | null } | null = null;

  constructor(start: ProcessStart) {
    this.start = start;
  }

  /** Its id in the sandbox; null before it is known. */
  get pid(): number | null {
    return this.#pid;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Runs it to its end; never rejects. */
  async run(call: CallOperation, { sandbox, sandboxId }: SandboxTarget): Promise<void> {
    const { cmd, args, envs: environment, cwd, pty, stdin } = this.start;
    const command = ["/bin/sh", "-c", wrapper, "sh", cwd, cmd, ...args];
    const asked = { sandbox_id: sandboxId, command, environment };
    const signal = AbortSignal.any([this.#stop.signal, sandbox.ended]);
    const owner = { principal: sandbox.caller.principal, signal };
    const onEvent = (event: OperationEvent): Promise<void> | void => {
      if (event.type === "output") return this.#take(event.stream, Buffer.from(event.bytes));
    };
    try {
      const { exit_code: exitCode } =
        pty === null
          ? await call(execInSandboxContract, asked, {
              ...{ ...owner, onEvent, signals: this.#signals },
              ...(stdin ? { stdin: this.#stdin } : {}),
            })
          : await call(
              openTerminalContract,
              { ...asked, ...pty, term: environment["TERM"] },
              { ...owner, onEvent, stdin: this.#stdin, sizes: this.#sizes },
            );
      await this.#finish(this.#endEvent(exitCode), this.#failedStart());
    } catch (error) {
      if (this.#sent === "SIGKILL") await this.#finish(this.#endEvent(128 + deaths.SIGKILL[0]), null);
      else await this.#finish(null, this.#stopError ?? toConnectError(error));
    }
  }

  /** Tells what happens from now on, its start first; one that has ended tells its end. */
  async follow(listener: ProcessListener): Promise<void> {
    if (this.#pid !== null) await listener.onEvent({ start: { pid: this.#pid } });
    if (this.#end === null) {
      this.#listeners.add(listener);
      return;
    }
    if (this.#end.event !== null) await listener.onEvent(this.#end.event);
    listener.onEnd(this.#end.error);
  }

  unfollow(listener: ProcessListener): void {
    this.#listeners.delete(listener);
  }

  /** @throws ConnectError for the other kind of input, or if it takes no more */
  input(kind: "stdin" | "pty", bytes: Uint8Array): void {
    const takes = this.start.pty === null ? "stdin" : "pty";
    if (kind !== takes || (kind === "stdin" && !this.start.stdin)) {
      throw new ConnectError("internal", `the process takes no ${kind}`);
    }
    this.#stdin.push(bytes);
  }

  closeInput(): void {
    this.#stdin.close();
  }

  /** @throws ConnectError without a terminal */
  resize(size: TerminalSize): void {
    if (this.start.pty === null) throw new ConnectError("internal", "the process has no terminal");
    this.#sizes.push(size);
  }

  /** Resolves when it was sent; a terminal that is killed has ended then. @throws ConnectError */
  async signal(signal: keyof typeof deaths): Promise<void> {
    if (this.#end !== null) return;
    this.#sent = signal;
    if (this.start.pty === null) this.#signals.push(signal);
    else if (signal === "SIGKILL") {
      this.#stop.abort();
      await settlesWithin(this.#done.promise, killedWithinMs);
    } else
      throw new ConnectError(
        "unimplemented",
        "a process in a terminal can only be sent SIGKILL; send it Ctrl-C as input",
      );
  }

  /** Ends it; its listeners are told this error. */
  stop(error: ConnectError): void {
    this.#stopError ??= error;
    this.#stop.abort();
  }

  async #take(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> {
    const first = this.#firstLine;
    if (first === null) return this.#data(stream, bytes);
    if (stream === "stderr") return;
    const text = Buffer.concat([first, bytes]);
    const end = text.indexOf("\n");
    if (end === -1 && text.length <= maxFirstLine) {
      this.#firstLine = text;
      return;
    }
    const pid = Number(text.subarray(0, Math.max(end, 0)).toString().trim());
    this.#firstLine = null;
    if (!Number.isSafeInteger(pid) || pid <= 0) {
      this.stop(new ConnectError("invalid_argument", `cwd '${this.start.cwd}' does not exist`));
      return;
    }
    this.#pid = pid;
    await this.#tell({ start: { pid } });
    const rest = text.subarray(end + 1);
    if (rest.length > 0) await this.#data(stream, rest);
  }

  async #data(stream: "stdout" | "stderr", bytes: Buffer): Promise<void> {
    const kind = this.start.pty === null ? stream : "pty";
    await this.#tell({ data: { [kind]: bytes.toString("base64") } });
  }

  async #tell(event: ProcessEvent): Promise<void> {
    await Promise.all([...this.#listeners].map(async (listener) => listener.onEvent(event)));
  }

  async #finish(event: ProcessEvent | null, error: ConnectError | null): Promise<void> {
    this.#end = { event: error === null ? event : null, error };
    this.#done.resolve();
    for (const queue of [this.#stdin, this.#signals, this.#sizes]) queue.close();
    if (this.#end.event !== null) await this.#tell(this.#end.event);
    for (const listener of this.#listeners) listener.onEnd(error);
    this.#listeners.clear();
  }

  #endEvent(exitCode: number): ProcessEvent {
    const [number, word] = this.#sent === null ? [0, ""] : deaths[this.#sent];
    const isDeath = this.#sent !== null && exitCode === 128 + number;
    const status = isDeath ? `signal: ${word}` : `exit status ${exitCode}`;
    const error = exitCode === 0 ? {} : { error: status };
    return { end: { exitCode: isDeath ? -1 : exitCode, exited: !isDeath, status, ...error } };
  }

  /** Why it never became the program; null: it did. */
  #failedStart(): ConnectError | null {
    if (this.#pid !== null) return null;
    return this.#stopError ?? new ConnectError("internal", "the process could not be started: images need /bin/sh");
  }
}

/** What names a process. */
interface ProcessSelector {
  readonly pid?: number | undefined;
  readonly tag?: string | undefined;
}

const maxLive = 64;
/** How many of a sandbox are known, with those whose end can still be asked for. */
const maxKnown = 2 * maxLive;
/** How long the end of a process can still be asked for, unless so many ended since that the eldest are forgotten. */
const keptMs = 30_000;

/** The processes that clients started, by their sandbox. */
export class ProcessTable {
  readonly #ofSandbox = new Map<string, Set<E2bProcess>>();

  /** Knows one from its start until a while after its end. */
  add(sandbox: E2bSandbox, program: E2bProcess, ended: Promise<void>): void {
    const processes = this.#of(sandbox);
    const eldest = [...processes].find(({ hasEnded }) => hasEnded);
    if (processes.size >= maxKnown && eldest !== undefined) processes.delete(eldest);
    processes.add(program);
    const forget = (): void => void processes.delete(program);
    void ended.then(() => setTimeout(forget, keptMs).unref());
  }

  /** @throws ConnectError if a sandbox has as many as it may */
  assertRoom(sandbox: E2bSandbox): void {
    if (this.live(sandbox).length < maxLive) return;
    throw new ConnectError("resource_exhausted", `${maxLive} processes of this sandbox are running`);
  }

  live(sandbox: E2bSandbox): readonly E2bProcess[] {
    return [...this.#of(sandbox)].filter((program) => !program.hasEnded);
  }

  /** @throws ConnectError not_found */
  find(sandbox: E2bSandbox, { pid, tag }: ProcessSelector, { ended = false } = {}): E2bProcess {
    const found = [...this.#of(sandbox)].findLast(
      (program) =>
        (ended || !program.hasEnded) && (tag === undefined ? program.pid === pid : program.start.tag === tag),
    );
    if (found !== undefined) return found;
    const named = tag === undefined ? `pid ${pid}` : `tag ${JSON.stringify(tag)}`;
    throw new ConnectError("not_found", `process with ${named} not found`);
  }

  #of({ id, ended }: E2bSandbox): Set<E2bProcess> {
    const known = this.#ofSandbox.get(id);
    if (known !== undefined) return known;
    const processes = new Set<E2bProcess>();
    if (ended.aborted) return processes;
    this.#ofSandbox.set(id, processes);
    ended.addEventListener("abort", () => this.#ofSandbox.delete(id), { once: true });
    return processes;
  }
}
