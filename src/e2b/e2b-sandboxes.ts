import { createId, createToken } from "../base/id.ts";
import { secretCheck } from "../base/http/token-proof.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { listFilesContract } from "../operations/files-contract.ts";
import {
  endSessionContract,
  getSessionContract,
  openSessionContract,
  type SessionRow,
} from "../operations/session-contract.ts";
import type { Platform } from "../platform/platform.ts";
import { homeFolder, type E2bCaller, type E2bSandbox, type E2bSandboxNeeds, type E2bTemplate } from "./e2b-sandbox.ts";
import { E2bRefusal } from "./refusal.ts";
import { mebibyte } from "../base/bytes.ts";
import { getMetricsContract } from "../operations/metrics-contract.ts";

/** What the sandboxes need of the platform. */
type SandboxPlatform = Pick<Platform, "call" | "config" | "logger" | "now">;

/** A sandbox and what ends it. */
interface Entry {
  sandbox: E2bSandbox;
  readonly end: AbortController;
  readonly isToken: (shown: string) => boolean;
  readonly isTrafficToken: (shown: string) => boolean;
  timer: NodeJS.Timeout | undefined;
  readonly touching: NodeJS.Timeout;
}

/** How long a new sandbox may wait for its image: the SDKs give up after 60 s, without a reason. */
const imageWithinMs = 45_000;
/** Longest wait of a timer; a later end is waited for in several. */
const maxTimerMs = 2 ** 31 - 1;
/** A sandbox that is to live longer than a session may be idle is used that much oftener. */
const touchesPerIdleTime = 3;

/** The sandboxes of E2B's clients, by their ids, until the time that each was given has passed. */
export class E2bSandboxes {
  readonly #platform: SandboxPlatform;
  readonly #entries = new Map<string, Entry>();

  constructor(platform: SandboxPlatform) {
    this.#platform = platform;
  }

  /** A new one, which runs when this resolves. @throws what opening a session throws: CAPACITY, POLICY_DENIED, UNSUPPORTED */
  async create(caller: E2bCaller, { timeoutMs, ...needs }: E2bSandboxNeeds, signal: AbortSignal): Promise<E2bSandbox> {
    const { call, now } = this.#platform;
    const { principal } = caller;
    const id = createId("i").replace("-", "");
    const asked = { keep_variables: needs.template.keepsVariables, home: homeFolder, labels: { e2b: id } };
    const owner = { principal, signal };
    const { image, isBuilt } = needs.template;
    const { session_id: sessionId } = await call(openSessionContract, { ...asked, image }, owner).catch(
      (error: unknown) => {
        // There sandboxes have the programs of this machine.
        if (!isBuilt || !isWithoutImages(error)) throw error;
        return call(openSessionContract, asked, owner);
      },
    );
    let row: SessionRow;
    try {
      await this.#start(needs.template, sessionId, owner);
      row = await call(getSessionContract, { session_id: sessionId }, { principal, signal });
      signal.throwIfAborted();
    } catch (error) {
      await this.#endSession({ caller, sessionId });
      throw error;
    }
    const { cpus, memory_mb: memoryMb, disk_mb: diskMb } = row.limits;
    const end = new AbortController();
    const startedAtMs = now();
    const sandbox: E2bSandbox = {
      ...{ id, caller, ...needs, sessionId, startedAtMs },
      token: createToken(),
      trafficToken: createToken(),
      limits: { cpus, memoryMb, diskMb },
      endAtMs: startedAtMs + timeoutMs,
      ended: end.signal,
    };
    const touching = setInterval(() => void this.#touch(id), this.#touchEachMs()).unref();
    const entry: Entry = {
      ...{ sandbox, end, timer: undefined, touching },
      isToken: secretCheck(sandbox.token),
      isTrafficToken: secretCheck(sandbox.trafficToken),
    };
    this.#entries.set(id, entry);
    this.#wait(entry);
    return sandbox;
  }

  /**
   * Its sandbox starts with its first call. One that waits for its image for longer than SDKs wait is refused; the
   * build goes on, for the next.
   * @throws E2bRefusal 503 while its image is being made, what the first call throws
   */
  async #start(
    { name, isBuilt }: E2bTemplate,
    sessionId: string,
    { principal, signal }: { readonly principal: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const tooLong = new AbortController();
    let isMade = true;
    const timer = setTimeout(() => (isMade ? undefined : tooLong.abort()), imageWithinMs).unref();
    try {
      await this.#platform.call(
        listFilesContract,
        { session_id: sessionId },
        {
          principal,
          signal: AbortSignal.any([signal, tooLong.signal]),
          onEvent: (event) => {
            if (event.type === "progress") isMade = false;
          },
        },
      );
    } catch (error) {
      if (tooLong.signal.aborted && !signal.aborted) throw imageInTheMaking(name);
      if (!isBuilt || !isWithoutBuilds(error)) throw error;
      const { message, context } = error;
      throw new GloveboxError("UNSUPPORTED", message, {
        suggestion: `The operator can name an image that has it for the template ${name}: e2b.templates (GLOVEBOX_E2B_TEMPLATES).`,
        context,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The one of that id, whoever owns it; null: none. `id` may have E2B's old form with a suffix. */
  find(id: string): E2bSandbox | null {
    return this.#entries.get(bareId(id))?.sandbox ?? null;
  }

  /** The principal's own of that id; null also for another's. */
  findOwn(id: string, principal: string): E2bSandbox | null {
    const sandbox = this.find(id);
    return sandbox?.caller.principal === principal ? sandbox : null;
  }

  /** Whether a text is a sandbox's token, in the same time whatever it is. */
  isToken({ id }: E2bSandbox, shown: string): boolean {
    return this.#entries.get(id)?.isToken(shown) ?? false;
  }

  /** The same for its token for contexts. */
  isTrafficToken({ id }: E2bSandbox, shown: string): boolean {
    return this.#entries.get(id)?.isTrafficToken(shown) ?? false;
  }

  /** All of them, or a principal's own. */
  list(principal?: string): readonly E2bSandbox[] {
    const all = [...this.#entries.values()].map(({ sandbox }) => sandbox);
    return principal === undefined ? all : all.filter(({ caller }) => caller.principal === principal);
  }

  /** From now on it ends at that time. */
  endAt({ id }: E2bSandbox, endAtMs: number): E2bSandbox | null {
    const entry = this.#entries.get(id);
    if (entry === undefined) return null;
    entry.sandbox = { ...entry.sandbox, endAtMs };
    this.#wait(entry);
    return entry.sandbox;
  }

  /** Ends it, with all that runs in it; resolves when its session is gone. */
  async remove({ id }: Pick<E2bSandbox, "id">): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#forget(entry);
    await this.#endSession(entry.sandbox);
  }

  /** Whether its session has not ended. @throws what getting a session throws */
  async isAlive(sandbox: E2bSandbox, signal?: AbortSignal): Promise<boolean> {
    return (await this.knownId(sandbox, signal)) !== undefined;
  }

  /** The engine's id of its sandbox; null: its session has ended, and it with it. @throws what getting a session throws */
  async currentId(sandbox: E2bSandbox, signal?: AbortSignal): Promise<string | null> {
    const current = await this.knownId(sandbox, signal);
    if (current !== null) return current ?? null;
    // It was stopped to make room for others: its files are kept.
    const { principal } = sandbox.caller;
    await this.#platform.call(listFilesContract, { session_id: sandbox.sessionId }, { principal, signal });
    return (await this.knownId(sandbox, signal)) ?? null;
  }

  /** The engine's id of its sandbox as it is; null: it is stopped; undefined: its session has ended, and it is forgotten. */
  async knownId({ id, sessionId, caller }: E2bSandbox, signal?: AbortSignal): Promise<string | null | undefined> {
    const { principal } = caller;
    try {
      return (await this.#platform.call(getSessionContract, { session_id: sessionId }, { principal, signal }))
        .sandbox_id;
    } catch (error) {
      if (!isGone(error)) throw error;
      const entry = this.#entries.get(id);
      if (entry !== undefined) this.#forget(entry);
      return undefined;
    }
  }

  /** Forgets those of a principal whose sessions end otherwise. */
  forgetAll(principal?: string): void {
    for (const entry of this.#entries.values()) {
      if (principal === undefined || entry.sandbox.caller.principal === principal) this.#forget(entry);
    }
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.sandbox.id);
    clearTimeout(entry.timer);
    clearInterval(entry.touching);
    entry.end.abort();
  }

  #wait(entry: Entry): void {
    clearTimeout(entry.timer);
    const leftMs = entry.sandbox.endAtMs - this.#platform.now();
    const wait = (): void => (leftMs > maxTimerMs ? this.#wait(entry) : void this.remove(entry.sandbox));
    entry.timer = setTimeout(wait, Math.min(Math.max(leftMs, 0), maxTimerMs)).unref();
  }

  #touchEachMs(): number {
    return Math.min(Math.max(this.#platform.config.session.idleTimeoutMs / touchesPerIdleTime, 100), maxTimerMs);
  }

  /** Keeps the session of a live sandbox from ending because it is idle; a stopped one stays stopped. */
  async #touch(id: string): Promise<void> {
    const { call, logger } = this.#platform;
    const sandbox = this.find(id);
    if (sandbox === null) return;
    const { sessionId, caller } = sandbox;
    const { principal } = caller;
    try {
      const isRunning = typeof (await this.knownId(sandbox)) === "string";
      if (isRunning) await call(listFilesContract, { session_id: sessionId }, { principal });
    } catch (error) {
      logger.warn({ err: error, session: sessionId }, "a sandbox of an E2B client does not answer");
    }
  }

  async #endSession({ caller, sessionId }: Pick<E2bSandbox, "caller" | "sessionId">): Promise<void> {
    const { call, logger } = this.#platform;
    try {
      await call(endSessionContract, { session_id: sessionId }, { principal: caller.principal });
    } catch (error) {
      // Its key may be gone, and its session with it.
      if (!isGone(error)) logger.warn({ err: error, session: sessionId }, "a session could not be ended");
    }
  }
}

/** What a sandbox used at one moment; what the engine cannot tell is left out. */
interface SandboxUse {
  readonly timestamp: string;
  readonly cpuCount: number;
  readonly cpuUsedPct: number;
  readonly memUsed: number;
  readonly memTotal: number;
  readonly memCache?: number;
  readonly diskUsed?: number;
  readonly diskTotal: number;
}

const maxSamples = 1_000;

/** The samples of a sandbox, oldest first. @throws what `get_metrics` throws */
export async function sandboxMetrics(
  call: Platform["call"],
  sandbox: E2bSandbox,
  { sandboxId, samples = maxSamples }: { readonly sandboxId: string; readonly samples?: number },
): Promise<readonly SandboxUse[]> {
  const { principal } = sandbox.caller;
  const answer = await call(getMetricsContract, { sandbox_id: sandboxId, samples }, { principal });
  const { cpus, memory_mb: memoryMb } = answer.limits;
  return answer.samples.map((sample) => ({
    timestamp: sample.timestamp,
    cpuCount: Math.max(1, Math.ceil(cpus)),
    // Of the CPUs that it may have; ours counts single ones.
    cpuUsedPct: Math.round((100 * (sample.cpu_percent ?? 0)) / Math.max(cpus, 0.01)) / 100,
    memUsed: Math.round((sample.memory_mb ?? 0) * mebibyte),
    memTotal: memoryMb * mebibyte,
    ...(sample.memory_cache_mb === null ? {} : { memCache: Math.round(sample.memory_cache_mb * mebibyte) }),
    ...(sample.scratch_mb === null ? {} : { diskUsed: Math.round(sample.scratch_mb * mebibyte) }),
    diskTotal: sandbox.limits.diskMb * mebibyte,
  }));
}

/** Old clients send `ID-SUFFIX`. */
function bareId(id: string): string {
  return id.split("-", 1)[0] ?? "";
}

function isWithoutImages(error: unknown): boolean {
  return error instanceof GloveboxError && error.errorType === "UNSUPPORTED" && error.context["field"] === "image";
}

function isWithoutBuilds(error: unknown): error is GloveboxError {
  return error instanceof GloveboxError && error.errorType === "UNSUPPORTED" && error.context["missing"] === "build";
}

function imageInTheMaking(template: string): E2bRefusal {
  return new E2bRefusal(
    503,
    `The image of the template ${template} is being made, which takes some minutes the first time. Try again in a minute; the server's log says when it is ready.`,
  );
}

function isGone(error: unknown): boolean {
  return error instanceof GloveboxError && ["NOT_FOUND", "PERMISSION_DENIED"].includes(error.errorType);
}
