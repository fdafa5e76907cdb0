import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { ContainerStats } from "../container-stats.ts";
import type { CallOptions, Container, ContainerState, ExecSpec, Process } from "../engine.ts";
import { ContainerInside } from "../inside/container-inside.ts";
import { lostError } from "../inside/lost-error.ts";
import { parseContainers } from "./answers/container-answer.ts";
import { parseStats } from "./answers/stats-answer.ts";
import { namesOf, sizedVolumes } from "./arguments/sized-volumes.ts";
import { readAnswer } from "./command/read-answer.ts";
import { engineName, engineTitle, refusal } from "./command/command-errors.ts";
import { failureKind } from "./command/command-failure.ts";
import type { ContainerCommand } from "./command/container-command.ts";
import { noCommit, nothingToAttachTo } from "./container-errors.ts";
import { KeptMain } from "./process/kept-main.ts";
import { MainProcess } from "./process/main-process.ts";
import { startExec } from "./process/start-exec.ts";
import { removeContainer, signalContainer } from "./remove-container.ts";
import { removeVolumes } from "./volumes.ts";

export interface AppleContainerParts {
  readonly spec: ContainerSpec;
  readonly command: ContainerCommand;
  /** Names of the variables that the image sets. */
  readonly imageVariables: readonly string[];
  /** Waits for the caller's turn to have the service start something. */
  readonly takeTurn: (signal: AbortSignal | undefined) => Promise<() => void>;
}

/** How often a container that is being started is looked at. */
const lookMs = 100;

/** A container in a virtual machine of its own: its main process is the end of a `container start` that we hold. */
export class AppleContainer implements Container {
  readonly id: string;
  readonly #parts: AppleContainerParts;
  readonly #inside: ContainerInside;
  readonly #removed = Promise.withResolvers<void>();
  #attached: MainProcess | undefined;
  #main: KeptMain | undefined;
  #endedByUs = false;

  constructor(parts: AppleContainerParts) {
    const { spec, command, imageVariables } = parts;
    this.id = spec.name;
    this.#parts = parts;
    const ownVariables = spec.command === undefined ? [] : Object.keys(spec.environment ?? {});
    const place = {
      id: this.id,
      command,
      variables: [...imageVariables, ...ownVariables],
      isEndedByUs: () => this.#endedByUs,
      isAlive: () => this.#inside.isAlive(),
    };
    this.#inside = new ContainerInside({
      engine: { name: engineName, title: engineTitle },
      spec,
      start: async (program, options) => {
        if (this.#endedByUs) throw lostError(engineTitle);
        return startExec(place, program, options);
      },
      isRunning: () => this.#isRunning(),
    });
  }

  async attach({ signal }: CallOptions = {}): Promise<Process> {
    throwIfCancelled(signal);
    if (this.#parts.spec.command === undefined) throw nothingToAttachTo();
    if (this.#endedByUs || this.#main !== undefined) throw lostError(engineTitle);
    this.#attached = new MainProcess(async (name) => {
      if (name === "SIGKILL") return this.kill();
      this.#endedByUs = true;
      await this.#signal(name);
    });
    return this.#attached.process;
  }

  /** If a start is given up, the container is removed. */
  async start({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    if (this.#main !== undefined) return;
    const endTurn = await this.#parts.takeTurn(signal);
    try {
      await this.#start(signal);
    } catch (error) {
      if (signal?.aborted === true) await this.remove();
      throw error;
    } finally {
      endTurn();
    }
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    const { spec, command } = this.#parts;
    const main = await KeptMain.start({
      ...{ id: this.id, command, program: spec.command },
      isEndedByUs: () => this.#endedByUs,
      isAlive: () => this.#isRunning(),
    });
    this.#main = main;
    if (spec.command === undefined) {
      this.#inside.keep(main.keeperStream());
      // The keeper's first answer says that the container's folders are ready.
      if (typeof (await this.#inside.askKeeper({ signal })) !== "string") return;
      this.#inside.letKeeperGo();
      throw await main.startFailure(spec.image);
    }
    if (this.#attached === undefined) main.drain();
    else this.#attached.begin(main.program);
    await this.#untilStarted(main, signal);
  }

  /** The command does not say when it has started its program. */
  async #untilStarted(main: KeptMain, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      if (main.hasEnded) return main.assertStarted();
      if ((await this.#state(signal)) === "running") return;
      await Promise.race([untilCancelled(sleep(lookMs), signal), main.program.exit.catch(() => undefined)]);
    }
  }

  exec(spec: ExecSpec, options: CallOptions = {}): Promise<Process> {
    return this.#inside.exec(spec, options);
  }

  connect(port: number, { signal }: CallOptions = {}): Promise<Duplex> {
    return this.#inside.connect(port, signal);
  }

  async inspect({ signal }: CallOptions = {}): Promise<ContainerState> {
    throwIfCancelled(signal);
    const state = await this.#state(signal);
    if (state === "running" || state === "stopping") return { running: true, exitCode: null, oomKilled: null };
    if (this.#main === undefined) return { running: false, exitCode: null, oomKilled: null };
    // The service reports no exit code: the command that we hold does, at most a moment later.
    const exitCode = await untilCancelled(this.#main.exitCode(), signal);
    return { running: false, exitCode, oomKilled: null };
  }

  isAlive(options?: CallOptions): Promise<boolean> {
    return this.#inside.isAlive(options);
  }

  /** Numbers of the keeper in about 2 ms; without one those of the command, which takes two seconds and counts no kills. */
  async stats({ signal }: CallOptions = {}): Promise<ContainerStats> {
    throwIfCancelled(signal);
    const answer = await this.#inside.askKeeper({ signal });
    if (typeof answer !== "string" && answer.stats.memoryBytes !== null) return answer.stats;
    const action = "tell a container's use";
    const words = ["stats", "--no-stream", "--format=json", "--", this.id];
    return readAnswer(this.#parts.command, { action, words, deadline: "query", signal }, (text) =>
      parseStats(text, this.id),
    );
  }

  writtenBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  writtenFolder(): Promise<null> {
    return Promise.resolve(null);
  }

  async wait({ signal }: CallOptions = {}): Promise<ContainerState> {
    throwIfCancelled(signal);
    const ended = this.#main?.program.exit.catch(() => undefined);
    await untilCancelled(Promise.race(ended === undefined ? [this.#removed.promise] : [ended]), signal);
    return this.inspect({ signal });
  }

  async stop(graceMs: number, { signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    this.#endedByUs = true;
    const seconds = Math.max(1, Math.ceil(graceMs / 1000));
    const result = await this.#parts.command.run({
      action: "stop a container",
      words: ["stop", "--signal=TERM", `--time=${seconds}`, "--", this.id],
      deadline: "stop",
      extraMs: seconds * 1000,
      signal,
    });
    const kind = failureKind(result.stderr);
    if (result.exitCode !== 0 && kind !== "no-container" && kind !== "not-running") {
      throw refusal("stop a container", result);
    }
    await this.#settle(signal);
  }

  async kill({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    this.#endedByUs = true;
    await this.#signal("SIGKILL", signal);
    await this.#settle(signal);
  }

  commit(): Promise<string> {
    return Promise.reject(noCommit());
  }

  async remove({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    this.#endedByUs = true;
    try {
      await removeContainer(this.#parts.command, this.id, signal);
      await removeVolumes(this.#parts.command, namesOf(sizedVolumes(this.#parts.spec)), signal);
    } finally {
      this.#inside.letKeeperGo();
      this.#attached?.abandon(lostError(engineTitle));
      this.#removed.resolve();
    }
  }

  async #signal(name: "SIGTERM" | "SIGKILL", signal?: AbortSignal): Promise<void> {
    await signalContainer(this.#parts.command, { id: this.id, name, signal });
  }

  /** The command that we hold ends a moment after its container. */
  async #settle(signal: AbortSignal | undefined): Promise<void> {
    if (this.#main !== undefined) await untilCancelled(this.#main.settled(), signal);
  }

  /** As the service reports it; null for a container that it does not have. */
  async #state(signal: AbortSignal | undefined): Promise<string | null> {
    const action = "look for a container";
    const words = ["list", "--all", "--format=json"];
    const call = { action, words, deadline: "query", signal } as const;
    return readAnswer(
      this.#parts.command,
      call,
      (text) => parseContainers(text).find(({ id }) => id === this.id)?.state ?? null,
    );
  }

  async #isRunning(): Promise<boolean> {
    try {
      return (await this.#state(undefined)) === "running";
    } catch {
      // If a service does not answer any more, its containers are lost to us.
      return false;
    }
  }
}
