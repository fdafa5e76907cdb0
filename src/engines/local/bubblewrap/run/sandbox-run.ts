import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin } from "../../../../base/abort.ts";
import type { GloveboxError } from "../../../../errors/glovebox-error.ts";
import type { ProcessExit, ProcessSignal } from "../../../engine.ts";
import { killedExitCode, type MemoryUse, type ProgramRun, type SignalOutcome } from "../../launcher.ts";
import { lostError } from "../../local-errors.ts";
import { familyMemoryBytes } from "./family-memory.ts";
import { HeldEnd } from "./held-end.ts";
import { childOf, parentOf } from "./process-family.ts";
import { goLine, programNumber } from "../arguments/program-arguments.ts";
import { launchSandbox, type LaunchedSandbox, type SandboxLaunchOptions } from "./sandbox-launch.ts";
import { signalNamespace } from "./signal-namespace.ts";

/** Set-up takes milliseconds; after this long without a sign it is ended from outside. */
const setupWithinMs = 5_000;
/** Sending a signal takes milliseconds; a program may delay the sender. */
const sendWithinMs = 1_000;
/** How long a first process without a program may take to end. */
const endWithinMs = 500;
/** Killed processes end within milliseconds; after this long they are killed once more. */
const killAgainMs = 2_000;
const maxDiagnosticsCharacters = 4_096;

/** One sandbox, with one program in it. */
export class SandboxRun implements ProgramRun {
  readonly ended: Promise<ProcessExit | GloveboxError>;
  readonly launched: Promise<void>;
  readonly #options: SandboxLaunchOptions;
  readonly #sandbox: LaunchedSandbox;
  readonly #ready = Promise.withResolvers<void>();
  /** Ends the senders of signals: the sandbox cannot end before them. */
  readonly #senders = new AbortController();
  readonly #heldEnd: HeldEnd;
  #isReady = false;
  #killed = false;
  #over = false;

  constructor(options: SandboxLaunchOptions) {
    this.#options = options;
    this.#heldEnd = new HeldEnd({ first: () => this.#firstProcess(), programNumber });
    this.#sandbox = launchSandbox(options);
    const { child } = this.#sandbox;
    this.launched = new Promise((resolve) => void child.once("spawn", resolve).once("error", () => resolve()));
    this.ended = this.#watch();
  }

  /** Of all its processes; 0 when none is left. */
  async readMemory(): Promise<MemoryUse> {
    const first = this.#firstProcess();
    const bytes = first === null ? 0 : familyMemoryBytes(first);
    return { bytes, peakBytes: bytes };
  }

  /** Ends the program and everything it started, whatever they do: a sandbox ends with its first process. */
  async kill(): Promise<void> {
    if (this.#over) return;
    this.#killed = true;
    this.#senders.abort();
    if (!this.#isReady) {
      // Without an answer the first process gives up by itself.
      this.#sandbox.handshake.destroy();
      if (!(await settlesWithin(this.ended, setupWithinMs))) this.#sandbox.child.kill("SIGKILL");
      return;
    }
    if (this.#heldEnd.endsByItself() && (await settlesWithin(this.ended, endWithinMs))) return;
    this.#killFirst();
    void this.#killAgain();
  }

  /** False when there is none. */
  #killFirst(): boolean {
    const first = this.#firstProcess();
    if (first === null) return false;
    try {
      process.kill(first, "SIGKILL");
    } catch {
      // It ended meanwhile.
    }
    return true;
  }

  /** One look may miss the first process, and a caller waits for the end. */
  async #killAgain(): Promise<void> {
    while (!(await settlesWithin(this.ended, killAgainMs))) {
      if (!this.#killFirst()) this.#sandbox.child.kill("SIGKILL");
    }
  }

  /**
   * SIGTERM to every process of the sandbox but its first. The program's end is not at once the end of what it started:
   * that has its time, too.
   */
  async terminate(): Promise<void> {
    try {
      await this.#send("SIGTERM", -1, () => this.#heldEnd.hold());
    } finally {
      void this.#heldEnd.release();
    }
  }

  /** The pipe of its standard error is the program's alone. */
  endFor(): Promise<void> {
    return this.kill();
  }

  signal(signal: ProcessSignal): Promise<SignalOutcome> {
    return this.#send(signal, programNumber);
  }

  async #send(signal: ProcessSignal, number: number, prepare?: () => void): Promise<SignalOutcome> {
    await this.#untilReady();
    const { tools, base } = this.#options;
    const giveUp = AbortSignal.any([this.#senders.signal, AbortSignal.timeout(sendWithinMs)]);
    // Between the message and the program's start there is a moment without a process that could be signalled.
    while (!giveUp.aborted) {
      const first = this.#firstProcess();
      if (first === null || !this.#isReady) return "none";
      const isStillOurs = (): boolean => this.#firstProcess() === first;
      prepare?.();
      const outcome = await signalNamespace({ tools, base, first, isStillOurs, giveUp }, signal, number);
      if (outcome !== "none") return outcome;
      await sleep(2);
    }
    return "none";
  }

  async #untilReady(): Promise<void> {
    await settlesWithin(Promise.race([this.#ready.promise, this.ended]), setupWithinMs);
  }

  /** Its process id as seen from here, looked up each time: the number may meanwhile belong to another process. */
  #firstProcess(): number | null {
    const { pid } = this.#sandbox.child;
    if (this.#over || pid === undefined) return null;
    const first = childOf(pid);
    return first !== null && parentOf(first) === pid ? first : null;
  }

  async #watch(): Promise<ProcessExit | GloveboxError> {
    const { child, diagnostics, handshake } = this.#sandbox;
    let said = "";
    diagnostics.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-maxDiagnosticsCharacters);
    });
    handshake.once("data", () => {
      if (this.#killed) return;
      this.#isReady = true;
      this.#ready.resolve();
      handshake.end(goLine);
    });
    // Its end counts as the end, even if another process holds its other end.
    child.once("exit", () => handshake.destroy());
    const { code, error } = await new Promise<{ code: number | null; error?: Error }>((resolve) => {
      child.once("error", (failure) => resolve({ code: null, error: failure }));
      child.once("close", (exitCode) => resolve({ code: exitCode }));
    });
    this.#over = true;
    if (this.#isReady && code !== null) return { exitCode: code };
    // What the set-up wrote is for logs only, as it may name host paths.
    return this.#killed ? { exitCode: killedExitCode } : lostError(new Error(error?.message ?? said));
  }
}
