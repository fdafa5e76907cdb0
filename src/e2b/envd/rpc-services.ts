import { z } from "zod";
import { kibibyte } from "../../base/bytes.ts";
import { maxArguments, maxEnvironmentEntries } from "../../operations/contract/wire-values.ts";
import { textsByName } from "../../operations/contract/request-schemas.ts";
import { absoluteInside, homeFolder, globalVariables } from "../e2b-sandbox.ts";
import { ConnectError } from "../refusal.ts";
import { EventStream } from "./rpc-stream.ts";
import { parseMessage, runInside, type RpcCall, type RpcMethod } from "../e2b-request.ts";
import { E2bProcess, type ProcessListener, type TerminalSize } from "./e2b-process.ts";
import { posix } from "node:path";
import { entriesScript, parseEntries, type FileEntry } from "./file-entries.ts";
import { ClientWatch, type ToldChange, type PolledWatch, type WatchEvent } from "./client-watch.ts";

const selector = z.strictObject({ pid: z.int().min(1).optional(), tag: z.string().max(256).optional() });
const size = z.strictObject({
  size: z.strictObject({ cols: z.int().min(1).max(4096), rows: z.int().min(1).max(4096) }),
});
const config = z.strictObject({
  cmd: z.string().min(1),
  // The wrapper has the first ones.
  args: z
    .array(z.string())
    .max(maxArguments - 8)
    .optional(),
  envs: textsByName(maxEnvironmentEntries).optional(),
  cwd: z.string().optional(),
});
const startSchema = z.strictObject({
  process: config,
  pty: size.optional(),
  tag: z.string().max(256).optional(),
  stdin: z.boolean().optional(),
});
const oneProcess = z.strictObject({ process: selector });
const updateSchema = z.strictObject({ process: selector, pty: size.optional() });
const bytes = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, "expected base64");
const inputSchema = z.strictObject({
  process: selector,
  input: z.strictObject({ stdin: bytes.optional(), pty: bytes.optional() }),
});
const signalSchema = z.strictObject({ process: selector, signal: z.union([z.string(), z.int()]) });

/** E2B's names and numbers of signals. */
const signals: Readonly<Record<string, "SIGTERM" | "SIGKILL">> = {
  SIGNAL_SIGTERM: "SIGTERM",
  15: "SIGTERM",
  SIGNAL_SIGKILL: "SIGKILL",
  9: "SIGKILL",
};
/** What one stream may have on its way. */
const streamBytes = 256 * kibibyte;

const found = ({ context, target }: RpcCall, process: z.output<typeof selector>, ended = false): E2bProcess =>
  context.processes.find(target.sandbox, process, { ended });

const sizeOf = ({ size: { cols: columns, rows } }: z.output<typeof size>): TerminalSize => ({ columns, rows });

/** The methods of E2B's service for processes. */
export const processMethods: Readonly<Record<string, RpcMethod>> = {
  List: {
    type: "unary",
    handle: ({ context, target }) => ({
      processes: context.processes.live(target.sandbox).flatMap(({ pid, start }) => {
        const { cmd, args, envs, cwd, tag } = start;
        return pid === null ? [] : [{ config: { cmd, args, envs, cwd }, pid, ...(tag === undefined ? {} : { tag }) }];
      }),
    }),
  },
  Start: { type: "stream", handle: start },
  Connect: {
    type: "stream",
    handle: async (call, body) => {
      const { process } = parseMessage(oneProcess, body);
      await follow(call, found(call, process, true));
    },
  },
  Update: {
    type: "unary",
    handle: (call, body) => {
      const { process, pty } = parseMessage(updateSchema, body);
      if (pty !== undefined) found(call, process).resize(sizeOf(pty));
      return {};
    },
  },
  SendInput: {
    type: "unary",
    handle: (call, body) => {
      const { process, input } = parseMessage(inputSchema, body);
      const to = found(call, process);
      if (input.stdin !== undefined) to.input("stdin", Buffer.from(input.stdin, "base64"));
      if (input.pty !== undefined) to.input("pty", Buffer.from(input.pty, "base64"));
      return {};
    },
  },
  CloseStdin: {
    type: "unary",
    handle: (call, body) => {
      const { process } = parseMessage(oneProcess, body);
      found(call, process).closeInput();
      return {};
    },
  },
  SendSignal: {
    type: "unary",
    handle: async (call, body) => {
      const { process, signal: asked } = parseMessage(signalSchema, body);
      const to = found(call, process);
      const signal = Object.hasOwn(signals, String(asked)) ? signals[String(asked)] : undefined;
      if (signal === undefined) throw new ConnectError("unimplemented", "signal: expected SIGTERM or SIGKILL");
      await to.signal(signal);
      return {};
    },
  },
};

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

async function start(call: RpcCall, body: unknown): Promise<void> {
  const { context, exchange, target } = call;
  const { process: asked, pty, tag, stdin = true } = parseMessage(startSchema, body);
  const { cmd, args = [], envs = {}, cwd = "" } = asked;
  context.processes.assertRoom(target.sandbox);
  const program = new E2bProcess({
    ...{ cmd, args, tag, stdin },
    envs: { HOME: homeFolder, USER: "user", LOGNAME: "user", ...globalVariables(target.sandbox), ...envs },
    cwd: cwd === "" ? homeFolder : absoluteInside(cwd),
    pty: pty === undefined ? null : sizeOf(pty),
  });
  const { "connect-timeout-ms": timeout } = exchange.request.headers;
  const timeoutMs = typeof timeout === "string" && /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  const late = (): void => program.stop(new ConnectError("deadline_exceeded", "the time of the process has passed"));
  const timer = timeoutMs === 0 ? undefined : setTimeout(late, timeoutMs).unref();
  await follow(call, program);
  const ended = program.run(context.platform.call, target).finally(() => clearTimeout(timer));
  context.processes.add(target.sandbox, program, ended);
}

/** Streams what a process does; it goes on when its client is gone. */
async function follow({ context, exchange, target }: RpcCall, program: E2bProcess): Promise<void> {
  const { request, response } = exchange;
  const { caller, ended } = target.sandbox;
  const held = context.inFlight.hold(caller.principal, streamBytes);
  const stream = new EventStream(response, request.headers["keepalive-ping-interval"]);
  const onLost = (): void => stream.cut();
  const listener: ProcessListener = {
    onEvent: (event) => stream.send(event),
    onEnd: (error) => (ended.aborted ? stream.cut() : stream.end(error)),
  };
  ended.addEventListener("abort", onLost, { once: true });
  response.once("close", () => {
    held.release();
    ended.removeEventListener("abort", onLost);
    program.unfollow(listener);
  });
  await program.follow(listener);
}
