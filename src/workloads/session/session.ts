import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import { Turns } from "../../base/turns.ts";
import type { Logger } from "../../base/logger.ts";
import type { ContainerStats } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { GivenSecrets } from "../../policy/redaction/given-secrets.ts";
import { workFolder } from "../../policy/scratch.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { WorkArchive, WorkArchives } from "../../sandbox/work-archives.ts";
import type { BackgroundProcess, StopOptions } from "../place/background/background-process.ts";
import { BackgroundProcesses } from "../place/background/background-processes.ts";
import type { SessionSettings } from "./session-call.ts";
import type { SandboxPackages } from "./packages/sandbox-packages.ts";
import { noPackages, type SessionPackages } from "./packages/session-packages.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import { restoreWork, saveWork } from "./files/work-folder.ts";

export interface SessionParts {
  readonly id: string;
  readonly principal: string;
  readonly settings: SessionSettings;
  readonly archives: WorkArchives;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told that a call has come. */
  readonly onBusy: (session: Session) => void;
  /** Told that no call is at work or waits, and no background process runs, any more. */
  readonly onIdle: (session: Session) => void;
}

/** What a call finds. */
export interface OpenedSession {
  readonly live: SessionSandbox;
  readonly before: ContainerStats;
  /** Whether the sandbox is another one than the call before had. */
  readonly restarted: boolean;
  /** What the caller should know of that, one sentence each. */
  readonly warnings: readonly string[];
}

/** What a call needs, and how it is got. */
export interface SandboxWish {
  /**
   * The packages that a sandbox must have, when those it has are not enough; null when they are. Undefined when only a
   * sandbox can tell.
   */
  missing(
    known: SessionPackages,
    live: SessionSandbox | null,
    caller: Caller,
  ): Promise<SessionPackages | null | undefined>;
  /** Gets ready what the sandbox needs, while the former one still lives. */
  prepare(packages: SessionPackages, caller: Caller): Promise<SandboxPackages>;
  /** Makes the sandbox. */
  open(packages: SandboxPackages, caller: Caller): Promise<SessionSandbox>;
}

/** Calls that may wait for their turn. */
const maxWaiting = 100;
const saveWithinMs = 60_000;

/**
 * A place whose files last from call to call. Its sandbox may come and go; calls have it one after another, and background
 * processes beside them.
 */
export class Session {
  readonly id: string;
  readonly principal: string;
  readonly settings: SessionSettings;
  readonly processes: BackgroundProcesses;
  readonly secrets: GivenSecrets = new GivenSecrets();
  readonly #parts: SessionParts;
  readonly #turns = new Turns();
  readonly #ending = new AbortController();
  #live: SessionSandbox | null = null;
  #archive: WorkArchive | null = null;
  #hadSandbox = false;
  #packages = noPackages;
  /** Its files could not be saved, so it cannot be stopped before its next call has changed them. */
  #isUnsavable = false;
  #end: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.id = parts.id;
    this.principal = parts.principal;
    this.settings = parts.settings;
    this.processes = new BackgroundProcesses({ place: "session", now: parts.now });
    this.#parts = parts;
  }

  /** Whether it could be stopped now to make room. */
  get canStop(): boolean {
    if (this.#live === null || this.#isBusy || this.#isUnsavable) return false;
    // There nothing could pack the files.
    return !runsInterpretersOnly(this.#live.capabilities);
  }

  /**
   * Does the work with the session's sandbox when it is its turn; waiting for that costs no time of the work's own.
   * @throws CANCELLED also when the session ends, CAPACITY, and what opening and the work throw
   */
  async use<T>(
    caller: Caller,
    wish: SandboxWish,
    work: (opened: OpenedSession, caller: Caller) => Promise<T>,
  ): Promise<T> {
    if (this.#turns.waiting >= maxWaiting) {
      throw new GloveboxError("CAPACITY", `${maxWaiting} calls of this session wait already.`, {
        context: { session_id: this.id, limit: maxWaiting },
      });
    }
    const signal = AbortSignal.any([this.#ending.signal, ...(caller.signal === undefined ? [] : [caller.signal])]);
    const mine = { ...caller, signal };
    this.#parts.onBusy(this);
    try {
      return await this.#inTurn(mine, wish, work);
    } finally {
      this.rest();
    }
  }

  /** To be called when something in it has ended: with the last of it begins its idle time. */
  rest(): void {
    if (!this.#isBusy && !this.#ending.signal.aborted) this.#parts.onIdle(this);
  }

  /**
   * Ends a background process; where that cannot be made certain the sandbox is given up with its files, which the warning
   * says.
   */
  async stopProcess(process: BackgroundProcess, how: StopOptions): Promise<readonly string[]> {
    const live = this.#live;
    try {
      await process.stop(how);
      return [];
    } catch (error) {
      this.#parts.logger.warn({ session: this.id, err: error }, "a background process of a session may not have ended");
      live?.markUnusable();
      const endTurn = await this.#turns.take();
      try {
        if (this.#live?.mustReplace === true) await this.#discard();
      } finally {
        endTurn();
      }
      return [stoppedWarning];
    }
  }

  /** Gives up the sandbox and keeps its files; does nothing when they cannot be kept. */
  async stop(): Promise<void> {
    if (!this.canStop) return;
    const endTurn = await this.#turns.take();
    try {
      // One may have begun while it was waited.
      if (this.#live === null || this.processes.running.length > 0) return;
      await this.#putAside(this.#live, this.#ending.signal);
      this.#parts.logger.info({ session: this.id }, "idle session stopped to make room");
    } catch (error) {
      this.#isUnsavable = true;
      this.#parts.logger.warn({ session: this.id, err: error }, "idle session could not be stopped");
    } finally {
      endTurn();
    }
  }

  /** Ends what runs, and removes the sandbox and the files; calling it again waits for the same end. */
  end(): Promise<void> {
    this.#end ??= this.#endAll();
    return this.#end;
  }

  get #isBusy(): boolean {
    return !this.#turns.isFree || this.processes.running.length > 0;
  }

  async #inTurn<T>(
    caller: Caller,
    wish: SandboxWish,
    work: (opened: OpenedSession, caller: Caller) => Promise<T>,
  ): Promise<T> {
    const endTurn = await this.#turns.take(caller.signal);
    try {
      const opened = await this.#open(caller, wish);
      this.#isUnsavable = false;
      return await work(opened, caller);
    } finally {
      if (this.#live?.mustReplace === true) await this.#discard();
      endTurn();
    }
  }

  async #endAll(): Promise<void> {
    this.#ending.abort();
    const stopped = Promise.allSettled(this.processes.running.map((process) => process.stop()));
    const endTurn = await this.#turns.take();
    try {
      await stopped;
      await this.#discard();
    } finally {
      await this.#archive?.[Symbol.asyncDispose]();
      this.#archive = null;
      endTurn();
    }
  }

  async #open(caller: Caller, wish: SandboxWish): Promise<OpenedSession> {
    const { signal } = caller;
    const isAlive = (await this.#live?.check({ signal })) ?? null;
    if (isAlive === null) await this.#discard();
    const had = this.#hadSandbox;
    const former = this.#live;
    const warnings: string[] = [];
    if (former === null && had) warnings.push(this.#archive === null ? lostWarning : restoredWarning);
    let missing = await wish.missing(this.#packages, former, caller);
    if (missing === undefined) {
      await this.#fill(await wish.prepare(this.#packages, caller), wish, caller);
      missing = (await wish.missing(this.#packages, this.#live, caller)) ?? null;
    }
    if (missing !== null || this.#live === null) {
      const prepared = await wish.prepare(missing ?? this.#packages, caller);
      try {
        if (this.#live !== null) await this.#putAside(this.#live, signal);
      } catch (error) {
        await prepared[Symbol.asyncDispose]();
        throw error;
      }
      await this.#fill(prepared, wish, caller);
      if (had && warnings.length === 0) warnings.push(packagesWarning);
    }
    const live = this.#live;
    const before = (await live?.check({ signal })) ?? null;
    if (live === null || before === null) {
      throw new GloveboxError("SANDBOX_LOST", "The session's sandbox ended as soon as it had begun.");
    }
    return { live, before, restarted: had && live !== former, warnings };
  }

  /** Makes the sandbox, with the files that were put aside. */
  async #fill(packages: SandboxPackages, wish: SandboxWish, caller: Caller): Promise<void> {
    const live = await wish.open(packages, caller);
    try {
      if (this.#archive !== null) await restoreWork(live.sandbox, this.#archive, caller);
    } catch (error) {
      await live.remove();
      throw error;
    }
    await this.#archive?.[Symbol.asyncDispose]();
    this.#archive = null;
    this.#packages = packages.specs;
    this.#hadSandbox = true;
    this.#live = live;
  }

  /** Gives up the sandbox and keeps the files of its working folder. */
  async #putAside(live: SessionSandbox, signal: AbortSignal | undefined): Promise<void> {
    await Promise.allSettled(this.processes.running.map((process) => process.stop({ isLost: true })));
    await live.runner.dismiss();
    const sizeBytes = live.profile.scratch.places.find(({ path }) => path === workFolder)?.sizeBytes ?? 0;
    this.#archive = await saveWork(live.sandbox, this.#parts.archives, {
      sizeBytes,
      signal: AbortSignal.any([AbortSignal.timeout(saveWithinMs), ...(signal === undefined ? [] : [signal])]),
    });
    await this.#discard();
  }

  async #discard(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    await live?.remove();
  }
}

const stoppedWarning =
  "The process may not have ended, so the session's sandbox was given up: its files are lost and all of its background processes have ended.";
const lostWarning =
  "The session's former sandbox has ended: this is a new one, files of earlier calls are lost and background processes have ended.";
const restoredWarning =
  "The session's sandbox was stopped while it was idle, to make room for others: this is a new one with the same files in /work.";
const packagesWarning =
  "The session has a new sandbox with the packages that this call needs; files in /work are the same, others are lost and background processes have ended.";
