import path from "node:path";
import { expandHome } from "../config/mounts/expand-home.ts";
import type { Logger } from "../base/logger.ts";
import type { PumpState } from "../base/batch-pump.ts";
import { kibibyte, mebibyte } from "../base/bytes.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { isAlive, type ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { StorePlace } from "../store/database.ts";
import { RunRecorder } from "../store/run-recorder.ts";
import { UsageRecorder } from "../store/usage-recorder.ts";
import type { Store } from "../store/store.ts";
import { LogSink } from "../telemetry/logs/log-sink.ts";
import { RedisPublisher } from "../telemetry/logs/redis/redis-publisher.ts";
import { SandboxLogs } from "../telemetry/logs/sandbox-logs.ts";
import { openOwnState } from "./own-state.ts";

export interface OpenLogsOptions {
  readonly config: Config;
  readonly host: Host;
  /** Identity of this server and its process. */
  readonly owner: string;
  readonly identity: ProcessIdentity;
  /** Whether there is a store, if the configuration leaves it open. */
  readonly storeByDefault: boolean;
  readonly logger: Logger;
  readonly now: () => number;
  readonly monotonicMs: () => number;
}

/** What observes sandboxes, and where its records go. */
export interface OpenedLogs {
  readonly logs: SandboxLogs;
  /** Null: nothing is stored. */
  readonly store: Store | null;
  readonly observers: readonly SandboxObserver[];
  /** Where samples and alerts are stored; null: nowhere. */
  readonly usage: UsageRecorder | null;
  /** Log entries that were dropped, by where. */
  readonly droppedEntries: () => Readonly<Record<string, number>>;
  /** State of the queues to the store and to Redis. */
  sinkStates(): Readonly<Record<string, PumpState>>;
  /** Flushes, within the time. */
  close(withinMs: number): Promise<void>;
}

const redisQueue = { maxBytes: 8 * mebibyte, batchItems: 500, batchBytes: 128 * kibibyte } as const;

/** Opens the log of every sandbox with its sinks; a store is opened in the background. @throws INVALID_REQUEST */
export async function openLogs(options: OpenLogsOptions): Promise<OpenedLogs> {
  const { config, logger, now, monotonicMs } = options;
  const store = await openStore(options);
  const publisher = config.redisUrl === null ? null : new RedisPublisher(config.redisUrl, logger);
  const redis =
    publisher &&
    new LogSink({
      ...redisQueue,
      name: "log entries for Redis",
      write: (blocks) => publisher.publish(blocks),
      logger,
      now,
    });
  const sinks = [store?.entries ?? [], redis ?? []].flat();
  const logs = new SandboxLogs({ sinks, now, monotonicMs });
  const recorder = store && new RunRecorder(store, options.owner, (sandbox) => logs.find(sandbox)?.nextOffset ?? null);
  return {
    logs,
    store,
    observers: [recorder ?? [], logs].flat(),
    usage: store && new UsageRecorder(store),
    droppedEntries: () => ({
      pace: logs.tooFast,
      ...(store === null ? {} : { store: store.state.entries.dropped }),
      ...(redis === null ? {} : { redis: redis.state.dropped }),
    }),
    sinkStates: () => ({
      ...(store && { store_entries: store.state.entries, store_records: store.state.records }),
      ...(redis && { redis: redis.state }),
    }),
    close: async (withinMs) => {
      await Promise.all([store?.close(withinMs), redis?.close(withinMs)]);
      publisher?.close();
    },
  };
}

async function openStore({
  config,
  host,
  owner,
  identity,
  storeByDefault,
  logger,
  now,
  monotonicMs,
}: OpenLogsOptions): Promise<Store | null> {
  const place = storePlace(config.store, host, storeByDefault);
  if (place === null) return null;
  // Most commands have none, and a good part of all code is the database's.
  const { Store } = await import("../store/store.ts");
  const store = new Store({
    place,
    prepare: () => openOwnState(host),
    retention: config.store,
    maxRunBytes: config.maxOutputBytes,
    server: { id: owner, identity, isAlive: (other) => livesHere(other, identity) },
    logger,
    now,
    monotonicMs,
  });
  store.start();
  return store;
}

/** What another server has written about its process is not assumed to have any particular form. */
function livesHere(other: unknown, own: ProcessIdentity): boolean | null {
  if (typeof other !== "object" || other === null || !("machine" in other) || !("pid" in other)) return null;
  return typeof other.pid === "number" && Number.isSafeInteger(other.pid) && other.pid > 0
    ? isAlive(other as ProcessIdentity, own)
    : null;
}

/** Null: no store. @throws INVALID_REQUEST if PostgreSQL is chosen without a URL */
function storePlace({ kind, file, url }: Config["store"], host: Host, byDefault: boolean): StorePlace | null {
  if (kind === "off" || (kind === "auto" && !byDefault)) return null;
  if (kind !== "postgres") {
    const own = path.join(host.stateDirectory, "store.db");
    return { kind: "sqlite", file: file === null ? own : expandHome(file, host.homeDirectory) };
  }
  if (url !== null) return { kind, url };
  throw new GloveboxError("INVALID_REQUEST", 'store.kind is "postgres", but store.url is not set.', {
    suggestion:
      "Set store.url (GLOVEBOX_STORE_URL) to the URL of the database, or store.kind (GLOVEBOX_STORE) to sqlite.",
    context: { field: "store.url" },
  });
}
