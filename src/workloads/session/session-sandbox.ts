import { settlesWithin } from "../../base/abort.ts";
import { createId } from "../../base/id.ts";
import { type Capabilities, runsInterpretersOnly } from "../../engines/capabilities.ts";
import type { CallOptions, ContainerStats, ExecSpec, Process } from "../../engines/engine.ts";
import type { Profile } from "../../policy/profile.ts";
import { codeFolder } from "../../policy/session-profile.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { SharedNetwork } from "../../sandbox/network/shared-network.ts";
import { runnerCommand, toolchains, type Toolchain } from "../program/languages.ts";
import { readRunner } from "../program/read-runner.ts";
import type { SandboxPackages } from "./packages/sandbox-packages.ts";

/** How long a runner without a job may take to end. */
const dismissMs = 5_000;

/** What a runner is started for: Node and Bun are told the name of the main file when they start. */
export interface RunnerKind {
  readonly toolchain: Toolchain;
  readonly mainFile: string;
}

/** A runner that waits for its job. */
interface WaitingRunner extends RunnerKind {
  readonly started: Promise<Process>;
}

/**
 * The sandbox of a session while it runs. One call runs in it at a time, background processes beside it, and the runner of
 * the next call waits already: it is started when nothing of the former call is left.
 */
export class SessionSandbox {
  readonly sandbox: Sandbox;
  readonly profile: Profile;
  readonly packages: SandboxPackages;
  readonly sharedNetwork: SharedNetwork = new SharedNetwork();
  #waiting: WaitingRunner | null = null;
  #isDoomed = false;

  constructor(sandbox: Sandbox, profile: Profile, packages: SandboxPackages) {
    this.sandbox = sandbox;
    this.profile = profile;
    this.packages = packages;
  }

  get id(): string {
    return this.sandbox.id;
  }

  get capabilities(): Capabilities {
    return this.sandbox.capabilities;
  }

  /** Whether it must not be used for another call. */
  get isDoomed(): boolean {
    return this.#isDoomed || this.sandbox.state !== "running";
  }

  /** Another sandbox takes its place before the next call. */
  doom(): void {
    this.#isDoomed = true;
  }

  /** Null when it must be replaced. */
  async check(options: CallOptions): Promise<ContainerStats | null> {
    return this.isDoomed ? null : this.sandbox.check(options);
  }

  /** The runner that waits, when it is of that kind, else a fresh one; no other is left. */
  async takeRunner(kind: RunnerKind, options: CallOptions): Promise<Process> {
    const waiting = this.#waiting;
    if (waiting === null || waiting.toolchain !== kind.toolchain || waiting.mainFile !== kind.mainFile) {
      return this.startRunner(kind, undefined, options);
    }
    this.#waiting = null;
    return waiting.started;
  }

  /** A fresh runner; none that waits is left beside it. */
  async startRunner(
    kind: RunnerKind,
    companion: readonly string[] | undefined,
    options: CallOptions,
  ): Promise<Process> {
    await this.dismissRunner();
    return this.#startRunner(kind, companion, options);
  }

  /** Starts the runner of the next call in the background; only when nothing of the last call is left. */
  prepareRunner(kind: RunnerKind): void {
    if (this.isDoomed || this.#waiting !== null) return;
    const started = this.#startRunner(kind, undefined, {});
    const waiting = { ...kind, started };
    this.#waiting = waiting;
    const forget = (): void => {
      if (this.#waiting === waiting) this.#waiting = null;
    };
    // It may also end by itself: killed for want of memory, or with its sandbox.
    void started.then((process) => process.exit).then(forget, forget);
  }

  /** Lets the runner that waits end, and waits until it has. */
  async dismissRunner(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) return;
    try {
      const process = await waiting.started;
      process.stdin.end();
      // A background process can have stopped it.
      if (!(await settlesWithin(process.exit, dismissMs))) await this.cleanUp(process);
    } catch {
      // Never started, or gone with its sandbox.
    }
  }

  /** Ends whatever a call has left running; false when something may be left, and the sandbox is doomed for it. */
  async cleanUp(process: Process): Promise<boolean> {
    try {
      await process.kill("SIGKILL");
      return true;
    } catch {
      this.doom();
      return false;
    }
  }

  async #startRunner(
    kind: RunnerKind,
    companion: readonly string[] | undefined,
    options: CallOptions,
  ): Promise<Process> {
    return this.sandbox.exec({ ...(await this.#runnerSpec(kind)), companion, concurrent: true }, options);
  }

  async remove(): Promise<void> {
    try {
      await this.sandbox.remove();
    } finally {
      await this.packages[Symbol.asyncDispose]();
    }
  }

  /**
   * The runner's folder has a name that no earlier program could know. It starts in a folder and with a home where none
   * could leave settings for its interpreter; the job brings the program's own.
   */
  async #runnerSpec({ toolchain, mainFile }: RunnerKind): Promise<ExecSpec> {
    const withoutShell = runsInterpretersOnly(this.capabilities);
    const folder = this.sandbox.folderOf(codeFolder);
    return {
      command: runnerCommand({
        toolchain,
        mainFile,
        source: await readRunner(toolchain),
        folder,
        runnerFolder: `${temporaryFolder}/.glovebox-${createId("run")}`,
        withoutShell,
      }),
      environment: {
        LANG: "C.UTF-8",
        HOME: withoutShell ? this.sandbox.folderOf(temporaryFolder) : "/",
        ...toolchains[toolchain].environment,
      },
      // A guard lets a program start in its own folders only.
      workingDirectory: withoutShell ? codeFolder : "/",
    };
  }
}
