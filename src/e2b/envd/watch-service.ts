import { posix } from "node:path";
import { z } from "zod";
import { kibibyte } from "../../base/bytes.ts";
import { absoluteInside } from "../e2b-sandbox.ts";
import { entriesScript, parseEntries, type FileEntry } from "./file-entries.ts";
import { runInside, parseMessage, type RpcCall, type RpcMethod } from "../e2b-request.ts";
import { ConnectError } from "../refusal.ts";
import { EventStream } from "./rpc-stream.ts";
import { ClientWatch, type ToldChange, type PolledWatch, type WatchEvent } from "./client-watch.ts";

const watchSchema = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4096)
    .regex(/^[^\0]*$/, "expected no NUL"),
  recursive: z.boolean().optional(),
  includeEntry: z.boolean().optional(),
  // Sandboxes have no such mounts.
  allowNetworkMounts: z.boolean().optional(),
});
const oneWatcher = z.strictObject({ watcherId: z.string().max(256) });

/** What one watch may have on its way. */
const watchBytes = 256 * kibibyte;
const maxEvents = 4096;
/** Files whose entries are asked for at once. */
const maxEntriesAtOnce = 128;
/** Changes after which the file is there. */
const leavesFile = new Set(["EVENT_TYPE_CREATE", "EVENT_TYPE_WRITE", "EVENT_TYPE_CHMOD"]);

/** The methods of E2B's service for files that watch folders, as a stream and by asking. */
export const watchMethods: Readonly<Record<string, RpcMethod>> = {
  WatchDir: { type: "stream", handle: watchDir },
  CreateWatcher: { type: "unary", handle: createWatcher },
  GetWatcherEvents: {
    type: "unary",
    handle: async ({ context, target }, body) => {
      const polled = context.watches.find(target.sandbox, parseMessage(oneWatcher, body).watcherId);
      await polled.watch.tellAll();
      const { events } = polled;
      polled.events = [];
      return { events };
    },
  },
  RemoveWatcher: {
    type: "unary",
    handle: ({ context, target }, body) => {
      context.watches.remove(target.sandbox, parseMessage(oneWatcher, body).watcherId);
      return {};
    },
  },
};

async function watchDir(call: RpcCall, body: unknown): Promise<void> {
  const { request, response } = call.exchange;
  const { sandbox } = call.target;
  const ready = Promise.withResolvers<EventStream>();
  const watch = await startWatch(call, body, async (events) => {
    const stream = await ready.promise;
    for (const event of events) await stream.send({ filesystem: event });
  });
  const stream = new EventStream(response, request.headers["keepalive-ping-interval"], (event) => event);
  response.once("close", () => watch.stop());
  if (response.destroyed) watch.stop();
  await stream.send({ start: {} });
  ready.resolve(stream);
  void watch.ended.then((error) => (sandbox.ended.aborted ? stream.cut() : stream.end(error)));
}

async function createWatcher(call: RpcCall, body: unknown): Promise<object> {
  const { context, target } = call;
  const ready = Promise.withResolvers<PolledWatch>();
  const watch = await startWatch(call, body, async (events) => {
    const polled = await ready.promise;
    polled.events.push(...events);
    if (polled.events.length <= maxEvents) return;
    polled.events = [];
    watch.stop(new ConnectError("resource_exhausted", `more than ${maxEvents} changes were not asked for`));
  });
  const polled: PolledWatch = { watch, events: [] };
  ready.resolve(polled);
  return { watcherId: context.watches.add(target.sandbox, polled) };
}

/** Starts a watch, which goes on after the call. @throws ConnectError, CAPACITY */
async function startWatch(
  call: RpcCall,
  body: unknown,
  onEvents: (events: readonly WatchEvent[]) => Promise<void> | void,
): Promise<ClientWatch> {
  const { context, target } = call;
  const { path: given, recursive = false, includeEntry = false } = parseMessage(watchSchema, body);
  const path = absoluteInside(given);
  context.watches.assertRoom(target.sandbox);
  const held = context.inFlight.hold(target.sandbox.caller.principal, watchBytes);
  const lasting = { ...call, exchange: { ...call.exchange, signal: target.sandbox.ended } };
  const watch = new ClientWatch(context.platform.call, target, { path, recursive }, async (changes) => {
    await onEvents(includeEntry ? await withEntries(lasting, path, changes) : changes.map((change) => ({ ...change })));
  });
  context.watches.count(target.sandbox, watch);
  void watch.ended.then(() => held.release());
  await watch.started;
  return watch;
}

/** With what is there now, where a change left something. */
async function withEntries(call: RpcCall, folder: string, changes: readonly ToldChange[]): Promise<WatchEvent[]> {
  const paths = new Set(changes.filter(({ type }) => leavesFile.has(type)).map(({ name }) => posix.join(folder, name)));
  const asked = [...paths];
  const entries = new Map<unknown, FileEntry>();
  for (let at = 0; at < asked.length; at += maxEntriesAtOnce) {
    const { stdout } = await runInside(call, entriesScript, asked.slice(at, at + maxEntriesAtOnce));
    for (const entry of parseEntries(stdout)) entries.set(entry["path"], entry);
  }
  return changes.map((change) => {
    const entry = leavesFile.has(change.type) ? entries.get(posix.join(folder, change.name)) : undefined;
    return { ...change, ...(entry === undefined ? {} : { entry }) };
  });
}
