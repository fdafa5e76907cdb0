import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { ContainerStats } from "../../container-stats.ts";
import type { CallOptions, ContainerState, ExecSpec } from "../../engine.ts";
import type { ContainerStart, EngineContainer } from "../../supervised/container/engine-container.ts";
import type { GroupCounters } from "../../cgroups/group-counters.ts";
import type { Dialect } from "../dialect.ts";
import type { Api } from "../http/api.ts";
import { refusalReason } from "../http/api-error.ts";
import type { ApiAnswer } from "../http/api-request.ts";
import { commitContainer } from "../images/commit-container.ts";
import { mountExchanged, verifyMounts, type MountFinding } from "../mounts/verify-mounts.ts";
import { writtenFolder } from "../mounts/written-folder.ts";
import { containerPath, type ContainerLink } from "./container-link.ts";
import type { InspectAnswer } from "./container-state.ts";
import { ControlStream } from "./control-stream.ts";
import { assertSupervisable } from "./supervisor-terms.ts";
import type { RuntimeKind } from "../oci-runtime.ts";
import { engineStats } from "./engine-stats.ts";
import { listenForExit } from "./exit-listener.ts";
import { groupCounters } from "./group-stats.ts";
import { inspectContainer } from "./inspect-container.ts";
import { limitSockets } from "./limit-sockets.ts";
import { openAttached } from "./open-attached.ts";
import { readLastState } from "./read-last-state.ts";
import { removeContainer } from "./remove-container.ts";
import { statsAfterEnd } from "./stats-after-end.ts";
import { uninterrupted } from "./uninterrupted.ts";

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
