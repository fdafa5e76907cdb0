import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import { untilCancelled } from "../../base/abort.ts";
import { Turns } from "../../base/turns.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { GivenSecrets } from "../../policy/redaction.ts";
import { workFolder } from "../../policy/scratch.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { WorkArchive, WorkArchives } from "../../sandbox/work-archives.ts";
import type {
  BackgroundProcess,
  StopOptions,
  BackgroundProcesses,
  LaunchedProcess,
} from "../place/background-processes.ts";
import { CurrentContainer, Place } from "../place/place.ts";
import type { ProcessSpec } from "../program/command-spec.ts";
import type { SandboxNeeds, SessionSandbox } from "./session-sandbox.ts";
import type { SessionSettings } from "./session-call.ts";
import { noPackages, type SandboxPackages } from "./session-packages.ts";
import { Contexts, type Context } from "./variables/contexts.ts";
import { mebibyte } from "../../base/bytes.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Kit } from "../../base/kit.ts";

/** In addition to the files' bytes, an archive has at least half a kibibyte for each. */
const overheadBytes = 64 * mebibyte;
/** Bytes that are written at once: an archive arrives in pieces as small as a header. */
const pieceBytes = mebibyte;

/** What says nothing about the files. */
const notTheirs: ReadonlySet<ErrorType> = new Set([
  "CANCELLED",
  "TIMEOUT",
  "SANDBOX_LOST",
  "OOM_KILLED",
  "ENGINE_UNAVAILABLE",
]);

/** Keeps the files of the working folder outside the sandbox. @throws what `SandboxFiles.pack` throws */
async function saveWork(
  { files }: Pick<Sandbox, "files">,
  archives: WorkArchives,
  {
    folder,
    principal,
    sizeBytes,
    signal,
  }: CallOptions & {
    readonly folder: string;
    readonly principal: string;
    readonly sizeBytes: number;
  },
): Promise<WorkArchive> {
  const maxBytes = sizeBytes + overheadBytes;
  try {
    const content = inLargePieces(files.pack(folder, { maxBytes, signal }));
    return await archives.save(content, { principal, maxBytes });
  } catch (error) {
    throw notKept("saved", error);
  }
}

/** Puts the files back into a new sandbox. @throws what `SandboxFiles.unpack` throws */
async function restoreWork(
  { files }: Pick<Sandbox, "files">,
  archive: WorkArchive,
  { folder, signal }: CallOptions & { readonly folder: string },
): Promise<void> {
  try {
    await files.unpack(folder, archive.read(), { signal });
  } catch (error) {
    throw notKept("restored", error);
  }
}

async function* inLargePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < pieceBytes) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

function notKept(what: "saved" | "restored", error: unknown): unknown {
  if (!(error instanceof GloveboxError) || notTheirs.has(error.errorType)) return error;
  const message = `The files of a session could not be ${what}: ${error.message}`;
  return new GloveboxError(error.errorType, message, {
    suggestion:
      what === "saved"
        ? "Remove from the working folder what cannot be packed, or use another session that names its packages in its first call."
        : "End the session and begin another.",
    context: error.context,
    cause: error,
  });
}

export interface SessionParts extends Pick<Kit, "logger" | "now"> {
  readonly id: string;
  readonly principal: string;
  readonly settings: SessionSettings;
  readonly archives: WorkArchives;
  /** Called when its first call or background process begins, and when the last one has ended. */
  readonly onActivity: (isBusy: boolean) => void;
}

/** What a call finds. */
export interface OpenedSession {
  readonly live: SessionSandbox;
  readonly before: ContainerStats;
  /** Whether the sandbox is a different one from that of the call before. */
  readonly restarted: boolean;
  /** What the caller should know about that, one sentence each. */
  readonly warnings: readonly string[];
}

/** What is done with the session's sandbox. */
type SessionWork<T> = (opened: OpenedSession, caller: Caller) => Promise<T>;

/** Calls that may wait for their turn. */
const maxWaiting = 100;
const saveWithinMs = 60_000;

/**
 * A place whose files last from call to call. Its sandbox may come and go; calls have it one after another, those of
 * different contexts and background processes beside them.
 */
export class Session {
  readonly id: string;
  readonly principal: string;
  readonly settings: SessionSettings;
  readonly processes: BackgroundProcesses;
  readonly secrets: GivenSecrets;
  /** Empty in a session that keeps no variables. */
  readonly contexts: Contexts;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly #parts: SessionParts;
  readonly #place: Place;
  readonly #turns = new Turns();
  readonly #container = new CurrentContainer<SessionSandbox>();
  /** The work of contexts in the present sandbox. */
  readonly #beside = new Set<Promise<unknown>>();
  #archive: WorkArchive | null = null;
  #hadSandbox = false;
  #packages = noPackages;
  /** Its files could not be saved, so it cannot be stopped before its next call has changed them. */
  #isUnsavable = false;

  constructor(parts: SessionParts) {
    this.id = parts.id;
    this.principal = parts.principal;
    this.settings = parts.settings;
    this.createdAtMs = parts.now();
    this.contexts = new Contexts({ now: parts.now, folder: this.folder });
    this.#place = new Place({ ...parts, noun: "session" });
    this.processes = this.#place.processes;
    this.secrets = this.#place.secrets;
    this.#parts = parts;
  }

  /** Where its programs start, and whose files are kept from sandbox to sandbox. */
  get folder(): string {
    return this.settings.home ?? workFolder;
  }

  get isEnding(): boolean {
    return this.#place.isEnding;
  }

  /** The sandbox it lives in now; null: none. */
  get sandboxId(): string | null {
    return this.#container.live?.sandbox.id ?? null;
  }

  /** Whether it could be stopped now to make room. */
  get canStop(): boolean {
    const { live } = this.#container;
    if (live === null || this.#place.activeCount > 0 || !this.#turns.isFree || this.#isUnsavable) return false;
    // Nothing could pack the files there.
    return !runsInterpretersOnly(live.capabilities);
  }

  /**
   * Does the work with the session's sandbox when it is its turn: that of the context, beside the work of other contexts,
   * or that of the session. Waiting for it costs no time of the work's own.
   * @throws CANCELLED also when the session ends, CAPACITY, and what opening and the work throw
   */
  async use<T>(caller: Caller, needs: SandboxNeeds, work: SessionWork<T>, context: Context | null = null): Promise<T> {
    if (this.#turns.waiting + this.contexts.waiting >= maxWaiting) {
      throw new GloveboxError("CAPACITY", `${maxWaiting} calls of this session wait already.`, {
        suggestion: "Wait until some of them have ended, which come one after another, or use another session.",
        context: { session_id: this.id, limit: maxWaiting, retry_after_seconds: 5 },
      });
    }
    const mine = { ...caller, signal: this.#place.signalOf(caller.signal) };
    return this.#place.whileActive(() =>
      context === null
        ? this.#inTurn(mine, needs, work)
        : context.turns.during(() => this.#besideOthers(mine, needs, work), mine.signal),
    );
  }

  /** Starts a process that runs beside its calls. @throws what `Place.startProcess` throws */
  startProcess(spec: ProcessSpec, launch: () => Promise<LaunchedProcess>): Promise<BackgroundProcess> {
    return this.#place.startProcess(spec, launch);
  }

  /**
   * Ends a background process; where that cannot be made certain the sandbox is given up with its files, which the warning
   * says.
   */
  async stopProcess(process: BackgroundProcess, how: StopOptions): Promise<readonly string[]> {
    const { live } = this.#container;
    try {
      await process.stop(how);
      return [];
    } catch (error) {
      this.#parts.logger.warn({ session: this.id, err: error }, "a background process of a session may not have ended");
      live?.markUnusable();
      await this.#turns.during(() => this.#discardUnusable());
      return [stoppedWarning];
    }
  }

  /** Whether the interpreter of a context is alive. */
  isRunning(context: Context): boolean {
    return this.#container.live?.keepsVariablesOf(context) ?? false;
  }

  /** Interrupts the call that runs in a context, if one does: its interpreter goes on. @throws CANCELLED when the session ends, CAPACITY */
  interruptContext(context: Context): Promise<void> {
    return this.#place.whileActive(async () => this.#container.live?.interpreters.get(context)?.interrupt());
  }

  /**
   * Ends the interpreter of a context, with its variables, all that it has started and the calls that are in the context or
   * wait for it; calls of other contexts go on. @throws CANCELLED when the session ends, CAPACITY
   */
  stopContext(context: Context, how: "restarted" | "ended"): Promise<void> {
    return this.#place.whileActive(async () => {
      context.stop(how);
      await this.#container.live?.endInterpreter(context);
    });
  }

  /** Gives up the sandbox and keeps its files; does nothing when they cannot be kept. */
  async stop(): Promise<void> {
    if (!this.canStop) return;
    try {
      await this.#turns.during(async () => {
        // One may have begun while it was waited.
        const { live } = this.#container;
        if (live === null || this.processes.running.length > 0 || this.#beside.size > 0) return;
        await this.#putAside(live, this.#place.signalOf(undefined));
        this.#parts.logger.info({ session: this.id }, "idle session stopped to make room");
      });
    } catch (error) {
      this.#isUnsavable = true;
      this.#parts.logger.warn({ session: this.id, err: error }, "idle session could not be stopped");
    }
  }

  /** Ends what is running, and removes the sandbox and the files; calling it again waits for the same end. */
  end(): Promise<void> {
    return this.#place.end((stopped) => this.#endAll(stopped));
  }

  async #inTurn<T>(caller: Caller, needs: SandboxNeeds, work: SessionWork<T>): Promise<T> {
    return this.#turns.during(async () => {
      try {
        return await work(await this.#open(caller, needs), caller);
      } finally {
        await this.#discardUnusable();
      }
    }, caller.signal);
  }

  /** Has the session's turn only until its sandbox is there. */
  async #besideOthers<T>(caller: Caller, needs: SandboxNeeds, work: SessionWork<T>): Promise<T> {
    const begun = await this.#turns.during(async () => {
      const running = work(await this.#open(caller, needs), caller);
      this.#beside.add(running);
      return { running };
    }, caller.signal);
    try {
      return await begun.running;
    } finally {
      this.#beside.delete(begun.running);
      // Whoever has the turn now does it.
      if (this.#beside.size === 0 && this.#turns.isFree) await this.#turns.during(() => this.#discardUnusable());
    }
  }

  /** Waits for the work of contexts; only the one that has the turn may, so that no more begins meanwhile. */
  async #untilAlone(signal?: AbortSignal): Promise<void> {
    await untilCancelled(Promise.allSettled(this.#beside), signal);
  }

  /** The work's own result counts: a removal that fails is already in the log, and a sweep repeats it. */
  async #discardUnusable(): Promise<void> {
    if (this.#container.live?.mustReplace !== true) return;
    await this.#untilAlone();
    await this.#container.discard().catch(() => undefined);
  }

  #endAll(stopped: Promise<unknown>): Promise<void> {
    return this.#turns.during(async () => {
      try {
        await stopped;
        await this.#untilAlone();
        await this.#container.discard();
      } finally {
        await this.#archive?.[Symbol.asyncDispose]();
        this.#archive = null;
      }
    });
  }

  async #open(caller: Caller, needs: SandboxNeeds): Promise<OpenedSession> {
    const { signal } = caller;
    const isAlive = (await this.#container.live?.isAlive({ signal })) ?? false;
    if (!isAlive) {
      await this.#untilAlone(signal);
      await this.#container.discard();
    }
    const had = this.#hadSandbox;
    const former = this.#container.live;
    // What was kept of its files, from sandbox to sandbox.
    const kept = former === null ? [this.#archive] : [];
    let missing = await needs.missing(this.#packages, former, caller);
    if (missing === undefined) {
      await this.#fill(await needs.prepare(this.#packages, caller), needs, caller);
      missing = (await needs.missing(this.#packages, this.#container.live, caller)) ?? null;
    }
    const present = this.#container.live;
    if (missing !== null && present !== null && (await needs.grow(present, missing, caller))) {
      this.#packages = missing;
      missing = null;
    }
    if (missing !== null && this.#beside.size > 0) {
      await this.#untilAlone(signal);
      return this.#open(caller, needs);
    }
    if (missing !== null || present === null) {
      const prepared = await needs.prepare(missing ?? this.#packages, caller);
      try {
        if (present !== null) kept.push(await this.#putAside(present, signal));
      } catch (error) {
        await prepared[Symbol.asyncDispose]();
        throw error;
      }
      await this.#fill(prepared, needs, caller);
    }
    const { live } = this.#container;
    const restored = former === null ? restoredWarning(this.folder) : packagesWarning(this.folder);
    const warnings = had && live !== former ? [warningOf(kept, restored)] : [];
    const before = (await live?.check({ signal })) ?? null;
    if (live === null || before === null) {
      throw new GloveboxError("SANDBOX_LOST", "The session's sandbox ended as soon as it had begun.");
    }
    this.#isUnsavable = false;
    return { live, before, restarted: had && live !== former, warnings };
  }

  /** Makes the sandbox, with the files that were saved. */
  async #fill(packages: SandboxPackages, needs: SandboxNeeds, caller: Caller): Promise<void> {
    await this.#container.open(this.#openWithFiles(packages, needs, caller));
    await this.#archive?.[Symbol.asyncDispose]();
    this.#archive = null;
    this.#packages = packages.specs;
    this.#hadSandbox = true;
  }

  async #openWithFiles(packages: SandboxPackages, needs: SandboxNeeds, caller: Caller): Promise<SessionSandbox> {
    const live = await needs.open(packages, caller);
    try {
      const archive = this.#archive;
      if (archive?.gaveWay === false) await restoreWork(live.sandbox, archive, { ...caller, folder: this.folder });
      return live;
    } catch (error) {
      await live.remove();
      throw error;
    }
  }

  /** Gives up the sandbox and keeps the files of its working folder. */
  async #putAside(live: SessionSandbox, signal: AbortSignal | undefined): Promise<WorkArchive> {
    await Promise.allSettled(this.processes.running.map((process) => process.stop({ isLost: true })));
    await live.runner.dismiss();
    await live.endInterpreters();
    const sizeBytes = live.profile.scratch.places.find(({ path }) => path === this.folder)?.sizeBytes ?? 0;
    const archive = await saveWork(live.sandbox, this.#parts.archives, {
      folder: this.folder,
      principal: this.principal,
      sizeBytes,
      signal: AbortSignal.any([AbortSignal.timeout(saveWithinMs), ...(signal === undefined ? [] : [signal])]),
    });
    this.#archive = archive;
    await this.#container.discard();
    return archive;
  }
}

/** What a call in a new sandbox is told of the files. */
function warningOf(kept: readonly (WorkArchive | null)[], restored: string): string {
  if (kept.includes(null)) return lostWarning;
  return kept.some((archive) => archive?.gaveWay === true) ? removedWarning : restored;
}

const stoppedWarning =
  "The process may not have ended, so the session's sandbox was given up: its files are lost and all of its background processes have ended.";
const lostWarning =
  "The session's former sandbox has ended: this is a new one, files of earlier calls are lost and background processes have ended.";
const removedWarning =
  "The session's sandbox was stopped while it was idle, and the files that were kept of it had to go: your stopped sessions had more than their share of this machine's disk. This is a new sandbox without them.";
const restoredWarning = (folder: string): string =>
  `The session's sandbox was stopped while it was idle, to make room for others: this is a new one with the same files in ${folder}.`;
const packagesWarning = (folder: string): string =>
  `The session has a new sandbox with the packages that this call needs; files in ${folder} are the same, others are lost and background processes have ended.`;
