import type { Capabilities } from "../../engines/capabilities.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import type { CallOptions, Process } from "../../engines/engine.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { codeFolder, type Profile } from "../../policy/profile.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { SharedNetwork } from "../../sandbox/shared-network.ts";
import type { WatchedScratch } from "../run/watched-scratch.ts";
import type { ImportedModule } from "../../languages/imported-modules.ts";
import { WaitingRunner } from "../program/waiting-runner.ts";
import type { Context } from "./variables/contexts.ts";
import type { KeptInterpreter } from "./variables/kept-interpreter.ts";
import type { SandboxPackages } from "./sandbox-packages.ts";

export interface SessionSandboxParts {
  readonly sandbox: Sandbox;
  readonly profile: Profile;
  readonly packages: SandboxPackages;
  /** Null: the engine provides its scratch. */
  readonly scratch: WatchedScratch | null;
}

/**
 * The sandbox of a session while it runs. One call of each context runs in it at a time, background processes beside it, and
 * the runner of the next call waits already: it is started when nothing of the former call is left.
 */
export class SessionSandbox {
  readonly sandbox: Sandbox;
  readonly profile: Profile;
  readonly packages: SandboxPackages;
  readonly #scratch: WatchedScratch | null;
  readonly sharedNetwork: SharedNetwork = new SharedNetwork();
  readonly runner: WaitingRunner;
  /** The interpreters that keep variables from call to call, including those that have ended, by their context. */
  readonly interpreters: Map<Context, KeptInterpreter> = new Map();
  /** What Python programs of the session have imported here. */
  modules: readonly ImportedModule[] = [];
  #isUnusable = false;

  constructor({ sandbox, profile, packages, scratch }: SessionSandboxParts) {
    this.#scratch = scratch;
    this.sandbox = sandbox;
    this.profile = profile;
    this.packages = packages;
    this.runner = new WaitingRunner({
      sandbox,
      folder: codeFolder,
      isOver: () => this.mustReplace,
      endByForce: (process) => this.endLeftBehind(process),
    });
  }

  /** Why it was ended for what it has written; null when it was not. */
  get diskError(): GloveboxError | null {
    return this.#scratch?.error ?? null;
  }

  get id(): string {
    return this.sandbox.id;
  }

  get capabilities(): Capabilities {
    return this.sandbox.capabilities;
  }

  /** Whether it must not be used for another call. */
  get mustReplace(): boolean {
    return this.#isUnusable || this.sandbox.state !== "running";
  }

  /** Another sandbox takes its place before the next call. */
  markUnusable(): void {
    this.#isUnusable = true;
  }

  /** Null when it must be replaced. */
  async check(options: CallOptions): Promise<ContainerStats | null> {
    return this.mustReplace ? null : this.sandbox.check(options);
  }

  /** False when it must be replaced. */
  async isAlive(options: CallOptions): Promise<boolean> {
    return !this.mustReplace && this.sandbox.isAlive(options);
  }

  /** Ends whatever a call has left running; false when something may be left: then it must be replaced. */
  async endLeftBehind(process: Process): Promise<boolean> {
    const isClean = (await this.sandbox.endLeftBehind(process)) === "clean";
    if (!isClean) this.markUnusable();
    return isClean;
  }

  /** Ends the interpreters that keep variables, which are gone. */
  async endInterpreters(): Promise<void> {
    const interpreters = [...this.interpreters.values()];
    this.interpreters.clear();
    for (const each of interpreters) if (!(await each.end())) await this.endLeftBehind(each.process);
  }

  /** Ends the interpreter of one context, if there is one, and all that it has started. */
  async endInterpreter(context: Context): Promise<void> {
    const interpreter = this.interpreters.get(context);
    if (interpreter === undefined) return;
    this.interpreters.delete(context);
    interpreter.giveUp();
    await this.endLeftBehind(interpreter.process);
  }

  /** Whether the interpreter of that context is still running. */
  keepsVariablesOf(context: Context): boolean {
    return this.interpreters.get(context)?.isOver === false;
  }

  async remove(): Promise<void> {
    try {
      await this.sandbox.remove();
    } finally {
      try {
        await this.#scratch?.[Symbol.asyncDispose]();
      } finally {
        await this.packages[Symbol.asyncDispose]();
      }
    }
  }
}
