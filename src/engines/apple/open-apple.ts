import path from "node:path";
import type { EngineSurroundings, RestartRule } from "../engine-surroundings.ts";
import type { Engine, EngineTrouble } from "../engine.ts";
import { AppleEngine } from "./apple-engine.ts";
import type { Logger } from "../../base/logger.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { untilCancelled } from "../../base/abort.ts";
import { mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { takeFreeFileLock } from "../../base/file-lock.ts";

const noLogger = { info: () => undefined, warn: () => undefined };

/** The engine over the `container` command of this machine. */
export function openAppleEngine(surroundings: EngineSurroundings): Engine {
  const { environment, architecture, engineRestart, stateDirectory, now, logger = noLogger } = surroundings;
  return healingEngine(new AppleEngine({ environment, architecture }), {
    rule: engineRestart,
    folder: path.join(stateDirectory, "apple"),
    ...{ now, logger },
  });
}

interface HealingOptions {
  readonly rule: RestartRule;
  /** Where the time of the last restart is kept, for all processes of the user. */
  readonly folder: string;
  readonly now: () => number;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/** The engine with a service that is restarted when its network looks dead. */
export function healingEngine(engine: AppleEngine, { rule, folder, now, logger }: HealingOptions): Engine {
  const selfHeal = new SelfHeal({
    ...{ rule, now, logger },
    live: () => engine.liveContainers(),
    restart: () => engine.restartService(),
    record: fileRecord(folder),
  });
  return {
    name: engine.name,
    images: engine.images,
    probe: (options) => engine.probe(options),
    capabilities: (options) => engine.capabilities(options),
    create: (spec, options) => engine.create(spec, options),
    list: (labels, options) => engine.list(labels, options),
    mend: (trouble, { signal } = {}) => selfHeal.mend(trouble, signal),
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

/**
 * Words of errors that a network gives that is there and lets nothing through, as it is in virtual machines after their
 * host has slept or changed its address; with the program or library whose words they are.
 */
export const networkTimeouts: readonly { readonly pattern: RegExp; readonly source: string }[] = [
  { pattern: /\bETIMEDOUT\b|\bESOCKETTIMEDOUT\b/, source: "Node, libuv" },
  { pattern: /\b(?:EHOSTUNREACH|ENETUNREACH)\b/, source: "Node, libuv" },
  {
    pattern: /\bUND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT\b|\bConnect Timeout Error\b/i,
    source: "undici, Node's fetch",
  },
  { pattern: /\bAPIConnectionTimeoutError\b|\bRequest timed out\b/i, source: "clients of model providers" },
  { pattern: /\bconnection timed out\b|\bconnect(?:ion)? time-?out\b/i, source: "the C library, git, ssh, curl" },
  { pattern: /\bnetwork is unreachable\b|\bno route to host\b/i, source: "the C library" },
  { pattern: /\boperation timed out\b|\btimed out after \d+ milliseconds\b/i, source: "curl, macOS" },
  { pattern: /\bi\/o timeout\b|\bTLS handshake timeout\b/i, source: "Go" },
  {
    pattern: /\b(?:Connect|Read)TimeoutError\b|\bConnectTimeout\b|\bReadTimeout\b/,
    source: "urllib3, requests, httpx",
  },
  {
    pattern: /\bHTTPClientError\.(?:connectTimeout|deadlineExceeded|readTimeout)\b/,
    source: "Apple's container command",
  },
  { pattern: /\bNSURLErrorDomain\b.{0,400}-1001\b|\bkCFErrorDomain\w{0,40}\b.{0,400}-1001\b/, source: "macOS" },
];

/** Longest end of a text that is examined: what a program writes first is not why it ended. */
const maxChars = 16_384;

export function looksLikeNetworkTimeout(text: string): boolean {
  const tail = text.slice(-maxChars);
  return networkTimeouts.some(({ pattern }) => pattern.test(tail));
}

export interface SelfHealOptions {
  readonly rule: RestartRule;
  /** Ids of containers that run on the service, whoever made them. */
  readonly live: () => Promise<readonly string[]>;
  /** Stops and starts the service. */
  readonly restart: () => Promise<void>;
  readonly record: RestartRecord;
  readonly now: () => number;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** How long other runs may take to end or to fail too, and how often that is looked at. */
  readonly patience?: { readonly waitMs: number; readonly lookMs: number } | undefined;
}

/** After a restart there is no other one for this long. */
const cooldownMs = 60_000;
const usualPatience = { waitMs: 3_000, lookMs: 250 };

type Decision = { readonly restarted: boolean; readonly why: string; readonly context?: object };

/**
 * Restarts a service whose network looks dead, so that a run can be tried once more (SPEC AG4). Runs that fail together
 * wait for one decision; each decision is logged.
 */
export class SelfHeal {
  readonly #options: SelfHealOptions;
  /** Containers of the runs that wait for the decision. */
  readonly #waiting = new Map<string, number>();
  #deciding: Promise<Decision> | undefined;

  constructor(options: SelfHealOptions) {
    this.#options = options;
  }

  /** Whether the service was restarted since the run began, so that another try is worth it. @throws CANCELLED */
  async mend({ text, container, beganAtMs }: EngineTrouble, signal?: AbortSignal): Promise<boolean> {
    if (!looksLikeNetworkTimeout(text)) return false;
    if (await this.#wasRestarted(beganAtMs)) return true;
    if (container !== undefined) this.#count(container, 1);
    try {
      this.#deciding ??= this.#decide().finally(() => (this.#deciding = undefined));
      const { restarted } = await untilCancelled(this.#deciding, signal);
      return restarted;
    } finally {
      if (container !== undefined) this.#count(container, -1);
    }
  }

  async #wasRestarted(beganAtMs: number): Promise<boolean> {
    const lastMs = await this.#options.record.lastMs();
    if (lastMs === null || lastMs < beganAtMs) return false;
    this.#log({ restarted: true, why: "it was restarted since the run began" });
    return true;
  }

  async #decide(): Promise<Decision> {
    const decision = await this.#tryRestart().catch((error: unknown) => ({
      restarted: false,
      why: "the restart failed",
      context: { error: error instanceof Error ? error.message : String(error) },
    }));
    this.#log(decision);
    return decision;
  }

  async #tryRestart(): Promise<Decision> {
    const { rule, record, restart, now } = this.#options;
    if (rule === "never") return { restarted: false, why: "the configuration allows no restart" };
    const others = await this.#others();
    if (others.length > 0 && rule !== "always") {
      return { restarted: false, why: "other sandboxes are live", context: { live: others.length } };
    }
    using lock = record.lock();
    if (lock === null) return { restarted: false, why: "another process is restarting it" };
    const lastMs = await record.lastMs();
    if (lastMs !== null && now() - lastMs < cooldownMs) {
      const seconds = Math.round((now() - lastMs) / 1000);
      return { restarted: false, why: "the last restart was too short ago", context: { seconds_ago: seconds } };
    }
    // Before it, so that one that fails is not tried again at once.
    await record.write(now());
    this.#options.logger.warn(
      { live: others.length },
      "Apple's container service is restarted: its network looks dead.",
    );
    await restart();
    await record.write(now());
    return { restarted: true, why: "it was restarted" };
  }

  /** Live containers of runs that do not wait here, once those have had time to. */
  async #others(): Promise<readonly string[]> {
    const { live, patience = usualPatience } = this.#options;
    for (let waitedMs = 0; ; waitedMs += patience.lookMs) {
      const others = (await live()).filter((id) => !this.#waiting.has(id));
      if (others.length === 0 || waitedMs >= patience.waitMs) return others;
      await sleep(patience.lookMs);
    }
  }

  #count(container: string, change: number): void {
    const count = (this.#waiting.get(container) ?? 0) + change;
    if (count > 0) this.#waiting.set(container, count);
    else this.#waiting.delete(container);
  }

  #log({ restarted, why, context }: Decision): void {
    const fields = { restarted, why, ...context };
    this.#options.logger.info(fields, `After what looks like a dead network of Apple's container service: ${why}.`);
  }
}

/** When the service was restarted last, by this process or another of the user. */
interface RestartRecord {
  /** Milliseconds since the epoch; null: never, as far as we know. */
  lastMs(): Promise<number | null>;
  write(atMs: number): Promise<void>;
  /** Null while another process holds it. */
  lock(): Disposable | null;
}

/** A record in a folder of the user's own. */
export function fileRecord(folder: string): RestartRecord {
  const file = path.join(folder, "restarted-at");
  return {
    lastMs: async () => {
      const text = await readFile(file, "utf8").catch(() => "");
      return /^\d{1,15}$/.test(text) ? Number(text) : null;
    },
    write: async (atMs) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await writeFile(file, String(Math.floor(atMs)), { mode: 0o600 });
    },
    lock: () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return takeFreeFileLock(path.join(folder, "restart.lock"));
    },
  };
}
