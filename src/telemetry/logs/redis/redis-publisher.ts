import type { createClient } from "redis";
import { PartlyWritten } from "../../../base/batch-pump.ts";
import { settlesWithin } from "../../../base/abort.ts";
import type { Logger } from "../../../base/logger.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { entryToWire, type LogEntry } from "../log-entry.ts";

/** How long connecting, and an answer to what was published, may take. */
const connectMs = 5_000;
const answerMs = 10_000;

/** The little of a client that is used. */
interface Client {
  publish(channel: string, message: string): Promise<unknown>;
  destroy(): void;
}

/** Publishes log entries to Redis, each on the channel of its sandbox: `glovebox:logs:<sandbox>` (SPEC LG2). */
export class RedisPublisher {
  readonly #url: string;
  readonly #logger: Logger;
  #client: Promise<Client> | undefined;

  /** Nothing is connected yet. */
  constructor(url: string, logger: Logger) {
    this.#url = url;
    this.#logger = logger;
  }

  /** Publishes entries in their order. @throws PartlyWritten with how many Redis has acknowledged, and its reason */
  async publish(entries: readonly LogEntry[]): Promise<void> {
    const client = await this.#connected();
    const sent = entries.map((entry) =>
      client.publish(`glovebox:logs:${entry.source.sandbox}`, JSON.stringify(entryToWire(entry))),
    );
    const all = Promise.allSettled(sent);
    if (!(await settlesWithin(all, answerMs))) {
      this.#drop();
      throw new Error("Redis does not answer.");
    }
    const results = await all;
    const failed = results.findIndex(({ status }) => status === "rejected");
    if (failed < 0) return;
    this.#drop();
    const [reason] = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    throw new PartlyWritten(failed, reason);
  }

  close(): void {
    this.#drop();
  }

  /** One connection after another: a new one when the last has failed. */
  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { createClient } = await loadRedis();
    const client = createClient({
      url: this.#url,
      // What is to be said waits in a queue of ours, which is bounded and keeps its order.
      disableOfflineQueue: true,
      socket: { connectTimeout: connectMs, reconnectStrategy: false },
    });
    client.on("error", (error: unknown) => this.#logger.debug({ err: error }, "the connection to Redis has failed"));
    await client.connect();
    return client;
  }

  #drop(): void {
    this.#client?.then(
      (client) => client.destroy(),
      () => undefined,
    );
    this.#client = undefined;
  }
}

/** @throws UNSUPPORTED */
async function loadRedis(): Promise<{ readonly createClient: typeof createClient }> {
  try {
    return await import("redis");
  } catch (error) {
    throw new GloveboxError("UNSUPPORTED", "Publishing logs needs the package redis, which is not installed.", {
      suggestion:
        "Install it beside glovebox (`npm install redis`), or leave logs.redis_url (GLOVEBOX_REDIS_URL) unset.",
      cause: error,
    });
  }
}
