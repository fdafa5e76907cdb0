import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { unknownStats, type ContainerStats } from "../container-stats.ts";
import type { CallOptions, ContainerState, ExecSpec } from "../engine.ts";
import { lostError } from "../supervised/container/container-errors.ts";
import type { ContainerStart, EngineContainer } from "../supervised/container/engine-container.ts";
import type { KubernetesApi } from "./api.ts";
import { AttachStream } from "./attach-stream.ts";
import { engineName, engineTitle, refusal, shownWords } from "./kubernetes-errors.ts";
import { noCommit, noOtherUser } from "./kubernetes-refusals.ts";
import type { Reach } from "./network-wall.ts";
import { openAttach } from "./open-attach.ts";
import { startFailure, stateOf, hasEnded, type Pod } from "./pod-status.ts";
import { deletePod, readPod, removePod, type PodKey } from "./remove-pod.ts";

/** Time between tries to attach, which fail until the container runs: often at first, as most start within half a second. */
const triesMs = [
  { untilMs: 1_000, everyMs: 30 },
  { untilMs: 5_000, everyMs: 100 },
] as const;
const lateTryMs = 400;
/** The pod is looked at for a reason after so many tries in a row. */
const triesPerLook = 6;
const lookMs = 150;

export interface PodPlaceParts {
  readonly key: PodKey;
  readonly image: string;
  /** `uid:gid` of all programs. */
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  /** As `EngineContainer.prove`; the pod is as it is after its start. Left out: nothing is to be shown. */
  readonly prove?: ((reach: Reach, pod: Pod, options: CallOptions) => Promise<void>) | undefined;
  /** Called once the pod is gone. */
  readonly onRemoved: () => void;
}

/** A pod, which lives as long as the connection to its first process. */
export class PodPlace implements EngineContainer {
  readonly engine = { name: engineName, title: engineTitle };
  readonly environment: EngineContainer["environment"];
  readonly #api: KubernetesApi;
  readonly #parts: PodPlaceParts;
  /** As it was last seen; its object goes when it has ended. */
  #seen: Pod | null = null;
  #isStarted = false;
  #isRemoved = false;

  constructor(parts: PodPlaceParts, api: KubernetesApi) {
    this.environment = parts.environment;
    this.#parts = parts;
    this.#api = api;
  }

  get id(): string {
    return this.#parts.key.name;
  }

  /** @throws UNSUPPORTED for another user than that of the pod */
  async admit({ user }: ExecSpec): Promise<void> {
    if (user !== undefined && user !== this.#parts.user) throw noOtherUser();
  }

  /** If a start is given up, the pod is removed. */
  async start(open: (stream: Duplex) => void, { signal }: CallOptions): Promise<ContainerStart> {
    throwIfCancelled(signal);
    if (this.#isRemoved) throw lostError(engineTitle);
    this.#isStarted = true;
    const stream = new AttachStream();
    open(stream);
    try {
      await this.#attach(stream, signal);
      return { mountsVerified: false };
    } catch (error) {
      stream.destroy();
      if (signal?.aborted === true) await this.remove({});
      throw error;
    }
  }

  async prove(reach: Reach, options: CallOptions): Promise<void> {
    const { prove, key } = this.#parts;
    if (prove === undefined) return;
    const pod = await readPod(this.#api, key, options);
    if (pod === null) throw lostError(engineTitle);
    await prove(reach, pod, options);
  }

  async kill(): Promise<void> {
    await deletePod(this.#api, this.#parts.key, {});
  }

  async wait({ signal }: CallOptions): Promise<void> {
    for (;;) {
      const pod = await readPod(this.#api, this.#parts.key, { signal });
      if (pod === null) return;
      this.#seen = pod;
      if (hasEnded(pod)) return;
      await untilCancelled(sleep(lookMs), signal);
    }
  }

  async inspect(options: CallOptions): Promise<ContainerState> {
    // The pod is there, and its supervisor waits: nothing runs yet.
    if (!this.#isStarted) return stateOf(null);
    const pod = await readPod(this.#api, this.#parts.key, options);
    if (pod !== null) this.#seen = pod;
    const last = pod ?? this.#seen;
    // What was seen to run and is gone has ended.
    return pod === null && last !== null && !hasEnded(last) ? stateOf(null) : stateOf(last);
  }

  /** Only its supervisor sees them. */
  stats(): Promise<ContainerStats> {
    return Promise.resolve(unknownStats);
  }

  writtenBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  writtenFolder(): Promise<null> {
    return Promise.resolve(null);
  }

  commit(): Promise<never> {
    return Promise.reject(noCommit());
  }

  async remove({ signal }: CallOptions): Promise<void> {
    this.#isRemoved = true;
    await removePod(this.#api, this.#parts.key, { signal, onLook: (pod) => (this.#seen = pod) });
    this.#parts.onRemoved();
  }

  /** Until the supervisor has said its first words. @throws why the pod does not start */
  async #attach(stream: AttachStream, signal: AbortSignal | undefined): Promise<void> {
    let waitedMs = 0;
    for (let tries = 1; ; tries += 1) {
      throwIfCancelled(signal);
      const reason = await this.#tryAttach(stream, signal);
      if (reason === null) return;
      if (tries % triesPerLook === 0) await this.#assertMayStart(reason, signal);
      const everyMs = triesMs.find(({ untilMs }) => waitedMs < untilMs)?.everyMs ?? lateTryMs;
      await untilCancelled(sleep(everyMs), signal);
      waitedMs += everyMs;
    }
  }

  /** Null: the supervisor has answered. */
  async #tryAttach(stream: AttachStream, signal: AbortSignal | undefined): Promise<string | null> {
    const opened = await openAttach(this.#api, this.id, signal);
    if (!("status" in opened)) {
      const giveUp = (): void => opened.terminate();
      signal?.addEventListener("abort", giveUp, { once: true });
      try {
        return await stream.use(opened);
      } finally {
        signal?.removeEventListener("abort", giveUp);
      }
    }
    const { status, words } = opened;
    // 400 and 500: there is no container yet; 404: there may be no pod any more.
    if (status !== 400 && status !== 404 && status < 500)
      throw refusal("attach to the pod", { status, body: { message: words } });
    if (status === 404) await this.#assertMayStart(words, signal);
    return words;
  }

  async #assertMayStart(reason: string, signal: AbortSignal | undefined): Promise<void> {
    const pod = await readPod(this.#api, this.#parts.key, { signal });
    if (pod === null) throw lostError(engineTitle, new Error(shownWords(reason)));
    this.#seen = pod;
    const failure = startFailure(pod, this.#parts.image);
    if (failure !== null) throw failure;
  }
}
