import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin } from "../../base/abort.ts";
import type { ProcessSignal } from "../engine.ts";
import { NamespaceDialer } from "./namespace-dialer.ts";
import { childOf, parentOf } from "./process-family.ts";
import { goLine, programNumber } from "./program-arguments.ts";
import { launchSandbox, type LaunchedSandbox, type SandboxLaunchOptions } from "./sandbox-launch.ts";
import { signalNamespace } from "./signal-namespace.ts";

/** How a sandbox ended. */
export interface SandboxEnd {
  /** The program's, as a shell shows it; null when the sandbox itself was ended or never came up. */
  readonly exitCode: number | null;
  /** What the set-up wrote; for logs only, as it may name host paths. */
  readonly diagnostics: string;
}

/** Set-up takes milliseconds; after this long without a sign it is ended from its outside. */
const setupWithinMs = 5_000;
const terminationTries = 50;
const mostDiagnosticsCharacters = 4_096;

/** One sandbox on its way from launch to end. */
export class SandboxRun {
  /** Resolves when no process of it is left. */
  readonly ended: Promise<SandboxEnd>;
  /** Settles when the operating system has made the process, or could not. */
  readonly launched: Promise<void>;
  readonly #options: SandboxLaunchOptions;
  readonly #sandbox: LaunchedSandbox;
  readonly #ready = Promise.withResolvers<void>();
  #dialer: NamespaceDialer | null = null;
  #isReady = false;
  #killed = false;
  #over = false;

  constructor(options: SandboxLaunchOptions) {
    this.#options = options;
    this.#sandbox = launchSandbox(options);
    const { child } = this.#sandbox;
    this.launched = new Promise((resolve) => void child.once("spawn", resolve).once("error", () => resolve()));
    this.ended = this.#watch();
  }

  /** Whether it was ended by `kill`, so that its end is no loss. */
  get wasKilled(): boolean {
    return this.#killed;
  }

  get channel(): LaunchedSandbox["channel"] {
    return this.#sandbox.channel;
  }

  /** Ends the program and everything that it started, whatever they do: with its first process a sandbox ends. */
  async kill(): Promise<void> {
    if (this.#over) return;
    this.#killed = true;
    if (!this.#isReady) {
      // Without its answer the first process gives up by itself.
      this.#sandbox.handshake.destroy();
      if (!(await settlesWithin(this.ended, setupWithinMs))) this.#sandbox.child.kill("SIGKILL");
      return;
    }
    const first = this.#firstProcess();
    if (first === null) return;
    try {
      process.kill(first, "SIGKILL");
    } catch {
      // It ended meanwhile.
    }
  }

  /** SIGTERM to every process of the sandbox but its first. */
  terminate(): Promise<void> {
    return this.#send("SIGTERM", -1);
  }

  /** A signal to the program's own process. */
  signal(signal: ProcessSignal): Promise<void> {
    return this.#send(signal, programNumber(this.#options));
  }

  async #send(signal: ProcessSignal, number: number): Promise<void> {
    await settlesWithin(Promise.race([this.#ready.promise, this.ended]), setupWithinMs);
    const { tools, base } = this.#options;
    // Between the word and the program there is a moment in which nobody is there to be signalled.
    for (let tries = 0; tries < terminationTries; tries++) {
      const first = this.#firstProcess();
      if (first === null || !this.#isReady) return;
      const isStillOurs = (): boolean => this.#firstProcess() === first;
      if (await signalNamespace({ tools, base, first, isStillOurs }, signal, number)) return;
      await sleep(2);
    }
  }

  /** Connects to a port of its loopback. `gone`: it has ended. */
  async connect(port: number, signal: AbortSignal | undefined): Promise<Duplex | "refused" | "lost" | "gone"> {
    await settlesWithin(Promise.race([this.#ready.promise, this.ended]), setupWithinMs);
    const first = this.#firstProcess();
    if (first === null || !this.#isReady) return "gone";
    if (this.#dialer === null || this.#dialer.isOver) {
      const isStillOurs = (): boolean => this.#firstProcess() === first;
      this.#dialer = NamespaceDialer.open({ ...this.#options, first, isStillOurs });
    }
    return this.#dialer === null ? "gone" : this.#dialer.dial(port, signal);
  }

  /** Its process id seen from here, asked each time: a number alone could have passed on to another process. */
  #firstProcess(): number | null {
    const { pid } = this.#sandbox.child;
    if (this.#over || pid === undefined) return null;
    const first = childOf(pid);
    return first !== null && parentOf(first) === pid ? first : null;
  }

  async #watch(): Promise<SandboxEnd> {
    const { child, diagnostics, handshake } = this.#sandbox;
    let said = "";
    diagnostics.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-mostDiagnosticsCharacters);
    });
    handshake.once("data", () => {
      if (this.#killed) return;
      this.#isReady = true;
      this.#ready.resolve();
      handshake.end(goLine);
    });
    // Whoever may still wait for an answer from it now gets none, and ends.
    child.once("exit", () => handshake.destroy());
    const { code, error } = await new Promise<{ code: number | null; error?: Error }>((resolve) => {
      child.once("error", (failure) => resolve({ code: null, error: failure }));
      child.once("close", (exitCode) => resolve({ code: exitCode }));
    });
    this.#over = true;
    this.#dialer?.close();
    this.#sandbox.channel?.destroy();
    return { exitCode: this.#isReady ? code : null, diagnostics: error?.message ?? said };
  }
}
