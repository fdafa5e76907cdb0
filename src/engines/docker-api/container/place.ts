import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import type { CallOptions, ContainerState, ExecSpec } from "../../engine.ts";
import type { ContainerStart, EngineContainer } from "../../supervised/container/engine-container.ts";
import {
  groupCounters,
  groupOf,
  ownPlaces,
  socketBytes,
  socketLimitFile,
  type GroupCounters,
} from "../../control-groups.ts";
import type { Dialect } from "../dialect.ts";
import type { Api } from "../http/api.ts";
import { refusalReason, createDemuxer, type ApiAnswer } from "../http/api-answer.ts";
import {
  commitContainer,
  containerPath,
  inspectContainer,
  removeContainer,
  type ContainerLink,
  type InspectAnswer,
} from "./container-link.ts";
import { mountExchanged, verifyMounts, writtenFolder, type MountFinding } from "../engine-mounts.ts";
import { assertSupervisable } from "./supervisor-terms.ts";
import type { RuntimeKind } from "../oci-runtime.ts";
import { uninterrupted } from "./uninterrupted.ts";
import { writeFile } from "node:fs/promises";
import { lostError } from "../../supervised/container/container-errors.ts";

/** The part of an event that is read. */
interface EventAnswer {
  readonly Action?: string;
  readonly Actor?: { readonly Attributes?: Readonly<Record<string, string>> };
}

/**
 * The state of a container that is gone, from the engine's short history of events. Null for what it no longer has:
 * Docker keeps the last 256 events of all containers.
 */
async function readLastState(api: Api, id: string, { signal }: CallOptions = {}): Promise<ContainerState> {
  const { body: info } = await api.call("ask for the time", { method: "GET", path: "/info", signal });
  // The engine's clock: with a time in the past the answer ends by itself.
  const now = Date.parse((info as { readonly SystemTime?: string }).SystemTime ?? "") / 1000;
  const filters = JSON.stringify({ container: [id], event: ["die", "died", "oom"] });
  const query = { since: "1", until: now.toFixed(3), filters };
  const { body } = await api.call("ask for past events", { method: "GET", path: "/events", query, signal });
  return stateFromEvents(parseEvents(body));
}

/** The last state that the events report; null for what they do not contain. */
export function stateFromEvents(events: readonly EventAnswer[]): ContainerState {
  const exitCode = events.findLast((event) => event.Action === "die")?.Actor?.Attributes?.["exitCode"];
  const oomKilled = events.some((event) => event.Action === "oom") || (exitCode === undefined ? null : false);
  return { running: false, exitCode: exitCode === undefined ? null : Number(exitCode), oomKilled };
}

/** The events of an answer: one JSON object (already parsed when it is the only one), or one a line. */
export function parseEvents(body: unknown): readonly EventAnswer[] {
  if (typeof body !== "string") return body === null ? [] : [body as EventAnswer];
  return body
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as EventAnswer);
}

/** Waits before each look for the reason of a container's end: an engine learns it after the end itself, busy ones 1 to 2 s later. */
const looksMs = [0, 100, 300, 600, 1_000, 1_000];

/**
 * Of a container that is gone: only that it ran out of memory as a whole.
 * @throws SANDBOX_LOST when it did not, or that cannot be told
 */
async function statsAfterEnd(
  { api, id, dialect }: Pick<ContainerLink, "api" | "id" | "dialect">,
  inspect: () => Promise<ContainerState>,
  signal: AbortSignal | undefined,
): Promise<ContainerStats> {
  for (const delayMs of looksMs) {
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
    const states = await Promise.all([inspect(), readLastState(api, id, { signal })]);
    if (states.some((state) => state.oomKilled === true)) {
      return { ...unknownStats, oomKills: 1 };
    }
  }
  throw lostError(dialect.title);
}

/** Opens the streams of the first process before its start; the engine's answer when it refuses. */
async function openAttached(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal | undefined,
): Promise<Duplex | ApiAnswer> {
  const request = {
    method: "POST",
    path: containerPath(link, "attach"),
    // Podman would take the bytes of its detach keys out of the stream, without a terminal too.
    query: { stream: "1", stdin: "1", stdout: "1", stderr: "1", detachKeys: "" },
    signal,
  } as const;
  // Podman prepares the container now, so it may find here that its program does not exist.
  const opened = await link.api.open("attach to the container", request, [400, 404, 409, 500]);
  return "socket" in opened ? opened.socket : opened;
}

interface LimitedContainer {
  readonly id: string;
  readonly memoryBytes: number;
  /** Asks for the number of its first process, on the machine of the engine, which may be another. */
  readonly processId: () => Promise<number>;
}

/**
 * Limits the buffers of a container's TCP and UDP sockets where the kernel counts them apart from its memory (control
 * groups version 1): runtimes set no such limit. Only root on the engine's own machine can; for others it stays as it is.
 *
 * The kernel counts sockets that are made after that, so nothing else may run in the container yet.
 */
async function limitSockets({ id, memoryBytes, processId }: LimitedContainer): Promise<void> {
  const { version1 } = await ownPlaces();
  if (version1.memory === undefined) return;
  const found = await groupOf({ id, processId: await processId() });
  const memory = found?.places.get("memory");
  if (found === null || memory?.version !== 1) return;
  await writeFile(`${memory.folder}${found.name}/${socketLimitFile}`, String(socketBytes(memoryBytes))).catch(
    () => undefined,
  );
}

/** The part of the engine's statistics that is read. */
interface StatsAnswer {
  readonly memory_stats?: { readonly usage?: number; readonly max_usage?: number };
  /** Nanoseconds. */
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly blkio_stats?: { readonly io_service_bytes_recursive?: readonly TransferAnswer[] | null };
}

/** Bytes to or from one device. */
interface TransferAnswer {
  /** `Read` or `read`, `Write` or `write`, and sums of these. */
  readonly op?: string;
  readonly value?: number;
}

/** The engine's own statistics: no count of kills, the peak only where cgroup v1 keeps one. Docker takes a second. */
async function engineStats(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal | undefined,
): Promise<ContainerStats> {
  const query = { stream: "false", "one-shot": "true" };
  const request = { method: "GET", path: containerPath(link, "stats"), query, signal } as const;
  const { body } = await link.api.call("ask for statistics", request);
  const answer = body as StatsAnswer | null;
  const memory = answer?.memory_stats;
  const nanoseconds = answer?.cpu_stats?.cpu_usage?.total_usage;
  const transfers = answer?.blkio_stats?.io_service_bytes_recursive ?? null;
  return {
    ...unknownStats,
    memoryBytes: memory?.usage ?? null,
    memoryPeakBytes: memory?.max_usage ?? null,
    cpuTimeMs: nanoseconds === undefined ? null : nanoseconds / 1_000_000,
    diskReadBytes: sumOf(transfers, "read"),
    diskWriteBytes: sumOf(transfers, "write"),
  };
}

/** Null where the engine lists no device: it does not say whether nothing was transferred or nothing is counted. */
function sumOf(transfers: readonly TransferAnswer[] | null, direction: "read" | "write"): number | null {
  const counted = transfers?.filter(({ op }) => op?.toLowerCase() === direction) ?? [];
  return counted.length === 0 ? null : counted.reduce((sum, { value = 0 }) => sum + value, 0);
}

/**
 * The supervisor's standard input and output over the connection that is attached to its container. What it says for people, on
 * standard error, is thrown away: the channel tells the same.
 */
export class ControlStream extends Duplex {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    // Half-close is never used: the end of either direction is the end of both.
    super({ allowHalfOpen: false });
    this.#socket = socket;
    const demux = createDemuxer();
    socket.on("data", (bytes: Buffer) => {
      try {
        for (const chunk of demux(bytes)) {
          if (chunk.stream === "stdout" && !this.push(chunk.bytes)) socket.pause();
        }
      } catch (error) {
        this.destroy(error as Error);
      }
    });
    socket.on("end", () => this.push(null));
    socket.on("error", (error: Error) => this.destroy(error));
    socket.on("close", () => this.destroy());
    socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

/** A container's end, still to come. */
interface ExitListener {
  /** Resolves at the end, or when the connection breaks: look at the state afterwards. */
  readonly heard: Promise<void>;
}

/**
 * Starts to listen for the container's next end; resolves when the engine is listening, with null when the container is
 * gone.
 */
async function listenForExit(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal,
): Promise<ExitListener | null> {
  const request = {
    method: "POST",
    path: containerPath(link, "wait"),
    query: { condition: "next-exit" },
    signal,
  } as const;
  const answer = await link.api.stream("wait for the container", request, [404]);
  return "chunks" in answer ? { heard: untilEnd(answer.chunks) } : null;
}

async function untilEnd(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of chunks) {
      // Only the end counts.
    }
  } catch {
    // A broken connection says nothing about the container; whoever waits looks at its state.
  }
}

/** How long programs need at most to end after the first process. */
const endMs = 2_000;

export interface PlaceParts {
  readonly id: string;
  readonly spec: ContainerSpec;
  readonly environment: Readonly<Record<string, string>>;
  /** Folders that every user inside may write to, made and opened by its first process. */
  readonly openFolders: readonly string[];
  readonly runtimeKind: RuntimeKind;
  /** As `GivenUsers.programs`. */
  readonly programUid: number | null;
  /** Called when mounts of handles cannot be seen, as those of names need not be; the container is removed then. */
  readonly onUnseen?: (() => void) | undefined;
  /** Called once the engine has confirmed that it is gone. */
  readonly onRemoved: () => void;
  /** Makes the container again after it was found that its first process is missing; resolves to the new one's id. */
  readonly makeAgain: (options: CallOptions) => Promise<string>;
}

/** A container behind Docker's API, which lives as long as the connection to its first process. */
export class DockerApiPlace implements EngineContainer {
  readonly engine: Dialect;
  readonly environment: EngineContainer["environment"];
  readonly openFolders: readonly string[];
  readonly #api: Api;
  readonly #parts: PlaceParts;
  #id: string;
  /** Found when its numbers are first asked for. */
  #counters: GroupCounters | undefined;

  constructor(parts: PlaceParts, api: Api, dialect: Dialect) {
    this.engine = dialect;
    this.environment = parts.environment;
    this.openFolders = parts.openFolders;
    this.#api = api;
    this.#parts = parts;
    this.#id = parts.id;
  }

  get id(): string {
    return this.#id;
  }

  /** @throws UNSUPPORTED for root in gVisor */
  async admit({ user }: ExecSpec): Promise<void> {
    const { spec, runtimeKind } = this.#parts;
    if (user !== undefined) assertSupervisable({ ...spec, processUser: user }, runtimeKind, this.engine);
  }

  /** If a start is given up after the engine has begun, the container is removed. */
  async start(open: (stream: Duplex) => void, { signal }: CallOptions): Promise<ContainerStart> {
    let attempt = await this.#tryStart(signal);
    if ("refusal" in attempt && isWithoutProgram(attempt.refusal)) {
      await this.#remove({});
      this.#id = await this.#parts.makeAgain({ signal });
      attempt = await this.#tryStart(signal);
    }
    if ("refusal" in attempt) throw this.#api.refusal("start the container", attempt.refusal);
    const { stream, found } = attempt;
    if (found === "unseen" && this.#parts.onUnseen !== undefined) {
      this.#parts.onUnseen();
      stream.destroy();
      await this.remove({});
      throw mountExchanged(this.#parts.spec);
    }
    // The supervisor says hello meanwhile, and starts nothing before this start is over.
    open(stream);
    try {
      await this.#limitSockets(signal);
    } catch (error) {
      stream.destroy();
      throw error;
    }
    return { mountsVerified: found === "same" };
  }

  async kill(): Promise<void> {
    const request = { method: "POST", path: this.#path("kill"), query: { signal: "SIGKILL" } } as const;
    const answer = await this.#api.call("end the container", request, [404, 409, 500]);
    if (answer.status < 400 || answer.status === 404) return;
    if (!this.engine.isNotRunning(answer.status, refusalReason(answer))) {
      throw this.#api.refusal("end the container", answer);
    }
  }

  async wait({ signal }: CallOptions): Promise<void> {
    const giveUp = new AbortController();
    const listening = signal === undefined ? giveUp.signal : AbortSignal.any([signal, giveUp.signal]);
    try {
      // First listen, then look: an end between the two is not missed.
      const exit = await listenForExit(this.#link, listening);
      if (exit === null) return;
      const state = await inspectContainer(this.#link, { signal });
      if (state === null || !state.running) return;
      await untilCancelled(exit.heard, signal);
    } finally {
      giveUp.abort();
    }
  }

  async inspect(options: CallOptions): Promise<ContainerState> {
    const state = (await inspectContainer(this.#link, options)) ?? (await readLastState(this.#api, this.#id, options));
    return state.oomKilled === false && !this.engine.deniesOom ? { ...state, oomKilled: null } : state;
  }

  /** Those of this machine's kernel, or of the engine, which may take a second. */
  async stats({ signal }: CallOptions): Promise<ContainerStats> {
    const known = this.#counted();
    if (known !== null) return known;
    const processId = await this.#processId(signal);
    if (processId === 0) return statsAfterEnd(this.#link, () => this.inspect({ signal }), signal);
    this.#counters = (await groupCounters({ id: this.#id, processId })) ?? undefined;
    return this.#counted() ?? engineStats(this.#link, signal);
  }

  /** The engine walks through all files: 60 ms for few, 0.3 s for some thousands. */
  async writtenBytes({ signal }: CallOptions): Promise<number | null> {
    const request = { method: "GET", path: this.#path("json"), query: { size: "1" }, signal } as const;
    const { body } = await this.#api.call("measure the container", request);
    return (body as { readonly SizeRw?: number }).SizeRw ?? null;
  }

  async writtenFolder({ signal }: CallOptions): Promise<string | null> {
    return writtenFolder({ id: this.#id, processId: await this.#processId(signal) });
  }

  commit(labels: Readonly<Record<string, string>>, { signal }: CallOptions): Promise<string> {
    return commitContainer(this.#link, { labels, programUid: this.#parts.programUid }, signal);
  }

  async remove(options: CallOptions): Promise<void> {
    await this.#remove(options);
    this.#parts.onRemoved();
  }

  async #remove(options: CallOptions): Promise<void> {
    try {
      await removeContainer(this.#api, this.#id, options);
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      // An engine may give up on programs that end late; the end of the first process is theirs.
      await sleep(endMs);
      await removeContainer(this.#api, this.#id, options);
    }
  }

  /** Its stream, attached before anything of it can run, or the engine's refusal. */
  async #tryStart(signal: AbortSignal | undefined): Promise<StartAttempt> {
    throwIfCancelled(signal);
    const opened = await openAttached(this.#link, signal);
    if ("status" in opened) return { refusal: opened };
    const stream = new ControlStream(opened);
    try {
      // When it is attached to, Podman has mounted everything, and nothing is running yet.
      let found = await this.#verifyMounts(signal);
      const request = { method: "POST", path: this.#path("start") } as const;
      const answer = await uninterrupted(
        () => this.#api.call("start the container", request, [400, 404, 500]),
        () => this.remove({}),
        signal,
      );
      if (answer.status >= 400) {
        stream.destroy();
        return { refusal: answer };
      }
      if (found === "unseen") found = await this.#verifyMounts(signal);
      return { stream, found };
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** Nothing of it runs a program yet. */
  async #limitSockets(signal: AbortSignal | undefined): Promise<void> {
    const { runtimeKind, spec } = this.#parts;
    // As far as the engine is on this machine.
    if (runtimeKind !== "namespaces") return;
    const { memoryBytes } = spec.limits;
    await limitSockets({ id: this.#id, memoryBytes, processId: () => this.#processId(signal) });
  }

  /** @throws POLICY_DENIED when something else is mounted; the container is removed then */
  async #verifyMounts(signal: AbortSignal | undefined): Promise<MountFinding> {
    const { spec } = this.#parts;
    const { mounts = [] } = spec;
    if (mounts.every(({ identity }) => identity === undefined)) return "same";
    const finding = await verifyMounts({ id: this.#id, processId: await this.#processId(signal), mounts });
    if (finding !== "other") return finding;
    await this.remove({});
    throw mountExchanged(spec);
  }

  /** Null when its group is not known, or no longer there. */
  #counted(): ContainerStats | null {
    const counted = this.#counters?.stats;
    // What the kernel kills for want of memory in such a container is the runtime itself.
    return counted === undefined || counted.memoryBytes === null ? null : { ...counted, oomKills: null };
  }

  /** Of the first process, on the engine's machine; 0 without one. */
  async #processId(signal: AbortSignal | undefined): Promise<number> {
    const request = { method: "GET", path: this.#path("json"), signal } as const;
    const { status, body } = await this.#api.call("inspect the container", request, [404]);
    return status === 404 ? 0 : ((body as InspectAnswer).State?.Pid ?? 0);
  }

  get #link(): ContainerLink {
    return { id: this.#id, api: this.#api, dialect: this.engine };
  }

  #path(action: string): string {
    return containerPath(this.#link, action);
  }
}

type StartAttempt = { readonly stream: ControlStream; readonly found: MountFinding } | { readonly refusal: ApiAnswer };

/** Whether the engine says that there is no such program: its volume was removed or emptied. */
function isWithoutProgram(refusal: ApiAnswer): boolean {
  return /no such file or directory|executable file not found|not found in \$PATH|exec format error/i.test(
    refusalReason(refusal),
  );
}
