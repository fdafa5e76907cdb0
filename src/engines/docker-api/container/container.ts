import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin, untilCancelled } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { ContainerStats } from "../../container-stats.ts";
import type { CallOptions, Container, ContainerState, ExecSpec, Process } from "../../engine.ts";
import type { Api } from "../http/api.ts";
import { refusalReason } from "../http/api-error.ts";
import type { ApiAnswer } from "../http/api-request.ts";
import { commitContainer } from "../images/commit-container.ts";
import { containerPath, type ContainerLink } from "./container-link.ts";
import { readLastState } from "./read-last-state.ts";
import type { InspectAnswer } from "./container-state.ts";
import { groupStats } from "./group-stats.ts";
import { engineStats } from "./engine-stats.ts";
import type { Dialect } from "../dialect.ts";
import { startExec } from "../exec/exec.ts";
import { listenForExit } from "./exit-listener.ts";
import { inspectContainer } from "./inspect-container.ts";
import { ContainerInside } from "../../inside/container-inside.ts";
import { lostError } from "../../inside/lost-error.ts";
import { attachMainProcess, type MainProcess } from "./main-process.ts";
import { keeperStream, openAttached } from "./open-attached.ts";
import { removeContainer } from "./remove-container.ts";
import { statsAfterEnd } from "./stats-after-end.ts";
import { parseRuntimeFailure } from "../exec/runtime-failure.ts";
import { uninterrupted } from "./uninterrupted.ts";
import { mountExchanged, verifyMounts, type MountFinding } from "../mounts/verify-mounts.ts";
import { writtenFolder } from "../mounts/written-folder.ts";

/** How long an engine usually needs at most to remove a container. */
const patientMs = 5_000;
/** How long a container needs at most to end without its keeper. */
const endMs = 2_000;

export interface CreatedContainer {
  readonly id: string;
  readonly spec: ContainerSpec;
  /** Called when mounts of handles cannot be seen, as those of names need not be; the container is removed then. */
  readonly onUnseen?: (() => void) | undefined;
}

/**
 * A container behind Docker's API.
 * Without a command of its own it lives as long as the connection to its keeper: see `containerConfig`.
 */
export class DockerApiContainer implements Container {
  readonly id: string;
  readonly #api: Api;
  readonly #link: ContainerLink;
  readonly #isIdle: boolean;
  readonly #inside: ContainerInside;
  #main: MainProcess | undefined;
  #endedByUs = false;
  readonly #onUnseen: (() => void) | undefined;
  #mountsVerified = false;

  constructor({ id, spec, onUnseen }: CreatedContainer, api: Api, dialect: Dialect) {
    this.id = id;
    this.#api = api;
    this.#onUnseen = onUnseen;
    this.#isIdle = spec.command === undefined;
    this.#link = {
      id,
      spec,
      api,
      dialect,
      isEndedByUs: () => this.#endedByUs,
      isAlive: () => this.#inside.isAlive(),
    };
    this.#inside = new ContainerInside({
      engine: dialect,
      spec,
      start: (program, options) => startExec(this.#link, program, options),
      isRunning: () => this.#isRunning(),
    });
  }

  get mountsVerified(): boolean {
    return this.#mountsVerified;
  }

  async attach(options: CallOptions = {}): Promise<Process> {
    if (this.#isIdle) {
      throw new GloveboxError(
        "UNSUPPORTED",
        "A container without a command of its own has no main process to attach to.",
        {
          suggestion: "Run a program with exec, or give the container a command.",
        },
      );
    }
    const kill = async (name: "SIGTERM" | "SIGKILL"): Promise<void> => {
      if (name === "SIGKILL") return this.kill();
      await this.#signal(name);
    };
    this.#main = await attachMainProcess(this.#link, kill, options);
    return this.#main.process;
  }

  /** If a start is given up after the engine has begun, the container is removed. */
  async start({ signal }: CallOptions = {}): Promise<void> {
    if (this.#isIdle && !this.#inside.isKept) this.#inside.keep(keeperStream(await this.#openKeeper(signal)));
    const request = { method: "POST", path: containerPath(this.#link, "start") } as const;
    try {
      // When it is attached to, Podman has mounted everything, and nothing from the image is running yet.
      let found = await this.#verifyMounts(signal);
      const answer = await uninterrupted(
        () => this.#api.call("start the container", request, [400, 500]),
        () => this.remove(),
        signal,
      );
      if (answer.status >= 400) this.#failStart(answer);
      if (found === "unseen") found = await this.#verifyMounts(signal);
      if (found === "unseen" && this.#onUnseen !== undefined) {
        this.#onUnseen();
        await this.remove();
        throw mountExchanged(this.#link.spec);
      }
      this.#mountsVerified = found === "same";
      // The keeper's first answer says that the container's folders are ready.
      if (this.#isIdle && typeof (await this.#inside.askKeeper({ signal })) === "string")
        throw await this.#keeperLoss();
    } catch (error) {
      this.#inside.forgetKeeper();
      throw error;
    }
  }

  exec(spec: ExecSpec, options: CallOptions = {}): Promise<Process> {
    return this.#inside.exec(spec, options);
  }

  connect(port: number, { signal }: CallOptions = {}): Promise<Duplex> {
    return this.#inside.connect(port, signal);
  }

  async inspect(options: CallOptions = {}): Promise<ContainerState> {
    const state = (await inspectContainer(this.#link, options)) ?? (await readLastState(this.#api, this.id, options));
    return state.oomKilled === false && !this.#link.dialect.deniesOom ? { ...state, oomKilled: null } : state;
  }

  isAlive(options?: CallOptions): Promise<boolean> {
    return this.#inside.isAlive(options);
  }

  /**
   * Numbers of the keeper in about 2 ms; without one, and where a runtime with a kernel of its own shows no control groups
   * inside, those of this machine's kernel, or of the engine, which may take a second.
   */
  async stats({ signal }: CallOptions = {}): Promise<ContainerStats> {
    const answer = await this.#inside.askKeeper({ signal });
    if (answer === "gone") return statsAfterEnd(this.#link, () => this.inspect({ signal }), signal);
    if (answer !== "silent" && answer.stats.memoryBytes !== null) return answer.stats;
    const counted = await groupStats({ id: this.id, processId: await this.#processId(signal) });
    // What the kernel kills for want of memory in such a container is the runtime itself.
    return counted === null ? engineStats(this.#link, signal) : { ...counted, oomKills: null };
  }

  /** The engine walks through all files: 60 ms for few, 0.3 s for some thousands. */
  async writtenBytes({ signal }: CallOptions = {}): Promise<number | null> {
    if (this.#link.spec.writableRoot === undefined) return null;
    const request = { method: "GET", path: containerPath(this.#link, "json"), query: { size: "1" }, signal } as const;
    const { body } = await this.#api.call("measure the container", request);
    return (body as { readonly SizeRw?: number }).SizeRw ?? null;
  }

  async writtenFolder({ signal }: CallOptions = {}): Promise<string | null> {
    if (this.#link.spec.writableRoot === undefined) return null;
    return writtenFolder({ id: this.id, processId: await this.#processId(signal) });
  }

  async wait({ signal }: CallOptions = {}): Promise<ContainerState> {
    const giveUp = new AbortController();
    const listening = signal === undefined ? giveUp.signal : AbortSignal.any([signal, giveUp.signal]);
    try {
      // First listen, then look: an end between the two is not missed.
      const exit = await listenForExit(this.#link, listening);
      const state = await this.inspect({ signal });
      if (exit === null || (!state.running && state.exitCode !== null)) return state;
      await untilCancelled(exit.heard, signal);
      return await this.inspect({ signal });
    } finally {
      giveUp.abort();
    }
  }

  async stop(graceMs: number, options: CallOptions = {}): Promise<void> {
    const giveUp = new AbortController();
    try {
      const exit = await untilCancelled(listenForExit(this.#link, giveUp.signal), options.signal);
      if (exit === null || !(await this.#signal("SIGTERM", options))) return;
      await untilCancelled(settlesWithin(exit.heard, graceMs), options.signal);
    } finally {
      giveUp.abort();
    }
    await this.kill(options);
  }

  async kill(options: CallOptions = {}): Promise<void> {
    this.#main?.letGo();
    await this.#signal("SIGKILL", options);
  }

  commit(labels: Readonly<Record<string, string>>, { signal }: CallOptions = {}): Promise<string> {
    return commitContainer(this.#link, labels, signal);
  }

  async remove(options: CallOptions = {}): Promise<void> {
    this.#endedByUs = true;
    this.#main?.letGo();
    // An engine that waits for a program which another one delays lets go when the container ends by itself.
    const slow = setTimeout(() => this.#inside.letKeeperGo(), patientMs);
    try {
      await removeContainer(this.#api, this.id, options);
    } catch (error) {
      if (!this.#inside.isKept || options.signal?.aborted === true) throw error;
      // The same when it has given up; its end takes a moment.
      this.#inside.letKeeperGo();
      await sleep(endMs);
      await removeContainer(this.#api, this.id, options);
    } finally {
      clearTimeout(slow);
      this.#inside.letKeeperGo();
    }
  }

  /** @throws POLICY_DENIED when something else is mounted; the container is removed then */
  async #verifyMounts(signal: AbortSignal | undefined): Promise<MountFinding> {
    const { id, spec } = this.#link;
    const { mounts = [] } = spec;
    if (mounts.every(({ identity }) => identity === undefined)) return "same";
    const finding = await verifyMounts({ id, processId: await this.#processId(signal), mounts });
    if (finding !== "other") return finding;
    await this.remove();
    throw mountExchanged(spec);
  }

  /** Of the first process, on the engine's machine; 0 without one. */
  async #processId(signal: AbortSignal | undefined): Promise<number> {
    const request = { method: "GET", path: containerPath(this.#link, "json"), signal } as const;
    const { body } = await this.#api.call("inspect the container", request);
    return (body as InspectAnswer).State?.Pid ?? 0;
  }

  async #openKeeper(signal: AbortSignal | undefined): Promise<Duplex> {
    const opened = await openAttached(this.#link, signal);
    if (!("status" in opened)) return opened;
    this.#failStart(opened);
    throw this.#api.refusal("attach to the container", opened);
  }

  /** Signals the main process; false when the container is not running (any more). */
  async #signal(name: "SIGTERM" | "SIGKILL", { signal }: CallOptions = {}): Promise<boolean> {
    this.#endedByUs = true;
    const request = {
      method: "POST",
      path: containerPath(this.#link, "kill"),
      query: { signal: name },
      signal,
    } as const;
    const answer = await this.#api.call("end the container", request, [404, 409, 500]);
    if (answer.status < 400) return true;
    if (answer.status === 404 || this.#link.dialect.isNotRunning(answer.status, refusalReason(answer))) return false;
    throw this.#api.refusal("end the container", answer);
  }

  async #isRunning(): Promise<boolean> {
    try {
      return (await inspectContainer(this.#link))?.running === true;
    } catch {
      // If an engine does not answer any more, its containers are lost to us.
      return false;
    }
  }

  /** A program that cannot be started is a result if it is the caller's, and a refusal if it is the keeper. */
  #failStart(answer: ApiAnswer): void {
    const { spec, dialect } = this.#link;
    const failure = parseRuntimeFailure(refusalReason(answer), spec.command ?? ["sh"]);
    if (failure === null) throw this.#api.refusal("start the container", answer);
    if (this.#isIdle) throw noShellError(spec.image, dialect);
    this.#main?.fail(failure);
  }

  /** Why the keeper did not come up. */
  async #keeperLoss(): Promise<GloveboxError> {
    const { spec, dialect } = this.#link;
    const { exitCode } = await this.inspect();
    return exitCode === 126 || exitCode === 127 ? noShellError(spec.image, dialect) : lostError(dialect.title);
  }
}

function noShellError(image: string, dialect: Dialect): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Image ${image} has no shell, which ${dialect.title} needs to keep it up.`, {
    suggestion: "Use an image that has `sh`.",
    context: { engine: dialect.name, image },
  });
}
