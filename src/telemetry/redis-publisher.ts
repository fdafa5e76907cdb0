import type { createClient } from "redis";
import { PartlyWritten } from "../base/batch-pump.ts";
import { settlesWithin } from "../base/abort.ts";
import type { Logger } from "../base/logger.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { entriesOf, entryToWire, type LogBlock, type LogEntry } from "./log-entry.ts";

/** How long connecting, and an answer to what was published, may take. */
const connectMs = 5_000;
const answerMs = 10_000;
/** Entries that are published together. */
const onTheWay = 200;

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

  /** Publishes entries in their order. @throws PartlyWritten with how many blocks Redis has acknowledged, and its reason */
  async publish(blocks: readonly LogBlock[]): Promise<void> {
    const entries = blocks.flatMap((block, index) => entriesOf(block).map((entry) => ({ entry, index })));
    // What is on its way is bounded: the client makes several objects of each.
    for (let start = 0; start < entries.length; start += onTheWay) {
      const part = entries.slice(start, start + onTheWay);
      try {
        await this.#publish(part.map(({ entry }) => entry));
      } catch (error) {
        this.#drop();
        throw new PartlyWritten(part[0]?.index ?? 0, error);
      }
    }
  }

  close(): void {
    this.#drop();
  }

  async #publish(entries: readonly LogEntry[]): Promise<void> {
    const client = await this.#connected();
    const sent = entries.map((entry) =>
      client.publish(`glovebox:logs:${entry.source.sandbox}`, JSON.stringify(entryToWire(entry))),
    );
    const all = Promise.all(sent);
    if (!(await settlesWithin(all, answerMs))) throw new Error("Redis does not answer.");
    await all;
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
      // A limit of the client's own would be a timer for each entry, kept for as long as it is.
      commandOptions: { timeout: 0 },
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
