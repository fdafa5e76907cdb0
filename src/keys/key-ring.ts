import { timingSafeEqual } from "node:crypto";
import type { Kit } from "../base/kit.ts";
import type { Logger } from "../base/logger.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Grant } from "../operations/contract/operation-contract.ts";
import { keyPrincipalPrefix } from "../policy/principal.ts";
import { parseKeysFile, digestOf, idOf, type KeyRecord } from "./key-record.ts";
import { readKeysFile, type KeysPlace } from "./keys-file.ts";

/**
 * A token bucket: it holds a minute's requests and refills evenly, so that bursts after a pause are possible while the
 * average rate stays the same.
 */
export class RequestRate {
  readonly #perMinute: number;
  readonly #monotonicMs: () => number;
  #tokens: number;
  #filledAtMs: number;

  constructor(perMinute: number, monotonicMs: () => number) {
    this.#perMinute = perMinute;
    this.#monotonicMs = monotonicMs;
    this.#tokens = perMinute;
    this.#filledAtMs = monotonicMs();
  }

  /** Counts one request. @throws CAPACITY with `retry_after_seconds` in its context */
  take(): void {
    const nowMs = this.#monotonicMs();
    const perMs = this.#perMinute / 60_000;
    this.#tokens = Math.min(this.#perMinute, this.#tokens + (nowMs - this.#filledAtMs) * perMs);
    this.#filledAtMs = nowMs;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return;
    }
    const retryAfterSeconds = Math.ceil((1 - this.#tokens) / perMs / 1000);
    throw new GloveboxError("CAPACITY", `Your API key has used up its ${this.#perMinute} requests per minute.`, {
      suggestion: "Wait for the given time and retry, or ask the operator for a key with a higher rate.",
      context: { requests_per_minute: this.#perMinute, retry_after_seconds: retryAfterSeconds },
    });
  }
}

/** The word for everything that the deployment has, where the default is nothing. */
const all = "*";

/** What a key may do. Secrets and host folders must be listed explicitly. */
function grantOfKey(record: KeyRecord): Grant {
  const { secrets = [], mount_roots: roots = [] } = record;
  return {
    maxSandboxes: record.sandboxes ?? null,
    ceilings: {
      cpus: record.max_cpus,
      memory_mb: record.max_memory_mb,
      timeout_seconds: record.max_timeout_seconds,
      pids: record.max_pids,
      disk_mb: record.max_disk_mb,
    },
    engines: record.engines ?? null,
    networks: record.network ?? null,
    images: record.images ?? null,
    secrets: secrets.includes(all) ? null : secrets,
    mountRoots: roots.includes(all) ? null : roots,
  };
}

export interface KeyRingOptions extends Pick<Kit, "now" | "monotonicMs"> {
  readonly place: KeysPlace;
}

/** Listeners for changes to the keys. */
export interface KeyFollower {
  readonly logger: Logger;
  /** Called once with the principal of a key that was revoked or has expired; everything it has must end. */
  readonly onRevoked: (principal: string) => void;
}

/** The owner of a request's key. */
export interface KeyCaller {
  /** `key:ID`, the same for the life of the key. */
  readonly principal: string;
  /** Aborts when the key is revoked or expires. */
  readonly revoked: AbortSignal;
  /** Counts one request of the key. @throws CAPACITY with `retry_after_seconds` in its context */
  readonly countRequest: () => void;
}

/** A key in force. */
interface LiveKey {
  readonly record: KeyRecord;
  readonly grant: Grant;
  readonly digest: Uint8Array;
  readonly caller: KeyCaller;
  readonly revoke: AbortController;
}

/** How often the file is checked: a key that is revoked there is refused after two checks at the latest. */
const lookEveryMs = 1000;
/** Hash for a key that does not exist: no text has it, and comparing with it takes just as long. */
const noDigest = new Uint8Array(32);

/** The keys of a running server, which follow their file. */
export class KeyRing implements Disposable {
  readonly #options: KeyRingOptions;
  readonly #keys = new Map<string, LiveKey>();
  #text: string | null = null;
  #badLooks = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #follower: KeyFollower | undefined;

  private constructor(options: KeyRingOptions) {
    this.#options = options;
  }

  /** Reads the file. @throws what is wrong with the file, for the operator */
  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const ring = new KeyRing(options);
    await ring.#read();
    return ring;
  }

  /** Follows the file from now on, until the ring is closed. */
  follow(follower: KeyFollower): void {
    this.#follower = follower;
    this.#lookLater();
  }

  /** Keys in force. */
  get size(): number {
    return [...this.#keys.values()].filter(({ record }) => !this.#isExpired(record)).length;
  }

  /**
   * The owner of the key; null: nobody. Every text is hashed and compared once, in constant time, with the same answer,
   * whether the id is unknown, the text malformed or the secret wrong.
   */
  authenticate(text: string): KeyCaller | null {
    const key = this.#keys.get(idOf(text) ?? "");
    const isRight = timingSafeEqual(digestOf(text), key?.digest ?? noDigest);
    const isShut = this.#isClosed || this.#badLooks > 1;
    if (!isRight || key === undefined || isShut || this.#isExpired(key.record)) return null;
    return key.caller;
  }

  /**
   * What a principal may do now; null for one without a key, which is the user of the machine.
   * @throws PERMISSION_DENIED for a key that is not in force
   */
  grantOf(principal: string): Grant | null {
    if (!principal.startsWith(keyPrincipalPrefix)) return null;
    const key = this.#keys.get(principal.slice(keyPrincipalPrefix.length));
    if (key !== undefined && !this.#isExpired(key.record)) return key.grant;
    throw new GloveboxError("PERMISSION_DENIED", "The API key was revoked or has expired.", {
      suggestion: "Ask the operator for another key.",
    });
  }

  /** Stops following the file; no key is accepted from then on. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#look(), lookEveryMs).unref();
  }

  /**
   * A file that has become invalid may hide revocations, so after two failed checks no key is accepted; an editor that
   * is saving is done by then. Running work continues: this is no reason to destroy it.
   */
  async #look(): Promise<void> {
    try {
      await this.#read();
      if (this.#badLooks > 1) this.#follower?.logger.warn({}, "the keys file is valid again");
      this.#badLooks = 0;
    } catch (error) {
      this.#badLooks += 1;
      if (this.#badLooks === 2) this.#follower?.logger.error({ err: error }, "no API key is accepted");
    }
    this.#lookLater();
  }

  async #read(): Promise<void> {
    const text = (await readKeysFile(this.#options.place)) ?? '{"keys":[]}';
    if (text !== this.#text) {
      const records = parseKeysFile(text);
      this.#text = text;
      this.#take(records);
    }
    for (const key of this.#keys.values()) if (this.#isExpired(key.record)) this.#drop(key, "has expired");
  }

  #take(records: readonly KeyRecord[]): void {
    const byId = new Map(records.map((record) => [record.id, record]));
    for (const key of this.#keys.values()) {
      const next = byId.get(key.record.id);
      if (next?.hash !== key.record.hash) this.#drop(key, "was revoked");
      // Running calls keep the rights they started with; new ones get the new rights.
      else if (JSON.stringify(next) !== JSON.stringify(key.record)) this.#enter(next, key.revoke);
    }
    for (const record of records) {
      if (!this.#keys.has(record.id) && !this.#isExpired(record)) this.#enter(record, new AbortController());
    }
  }

  #enter(record: KeyRecord, revoke: AbortController): void {
    const { requests_per_minute: perMinute } = record;
    const rate = perMinute === undefined ? null : new RequestRate(perMinute, this.#options.monotonicMs);
    this.#keys.set(record.id, {
      record,
      revoke,
      grant: grantOfKey(record),
      digest: Buffer.from(record.hash.slice("sha256:".length), "hex"),
      caller: {
        principal: `${keyPrincipalPrefix}${record.id}`,
        revoked: revoke.signal,
        countRequest: () => rate?.take(),
      },
    });
  }

  #drop({ record, revoke, caller }: LiveKey, why: string): void {
    this.#keys.delete(record.id);
    this.#follower?.logger.info({ principal: caller.principal, why }, "an API key ends");
    revoke.abort();
    this.#follower?.onRevoked(caller.principal);
  }

  #isExpired({ expires_at: at }: KeyRecord): boolean {
    return at !== undefined && this.#options.now() >= Date.parse(at);
  }
}
