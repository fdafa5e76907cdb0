import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { ContainerStats } from "../../container-stats.ts";
import type { CallOptions, ContainerState } from "../../engine.ts";
import type { ContainerStart, EngineContainer } from "../../supervised/container/engine-container.ts";
import { parseContainers } from "../answers/container-answer.ts";
import { parseStats } from "../answers/stats-answer.ts";
import { namesOf, sizedVolumes } from "../arguments/sized-volumes.ts";
import { engineName, engineTitle } from "../command/command-errors.ts";
import type { ContainerCommand } from "../command/container-command.ts";
import { readAnswer } from "../command/read-answer.ts";
import { noCommit } from "../container-errors.ts";
import { removeVolumes } from "../volumes.ts";
import { AttachedStart } from "./attached-start.ts";
import { killContainer, removeContainer } from "./remove-container.ts";

export interface ApplePlaceParts {
  readonly spec: ContainerSpec;
  readonly command: ContainerCommand;
  readonly environment: Readonly<Record<string, string>>;
  /** Waits for the caller's turn to have the service start something. */
  readonly takeTurn: (signal: AbortSignal | undefined) => Promise<() => void>;
}

/** How often a container that is about to end is looked at. */
const lookMs = 250;

/** A container in a virtual machine of its own, which lives as long as the `container start` that we hold. */
export class ApplePlace implements EngineContainer {
  readonly engine = { name: engineName, title: engineTitle };
  readonly id: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly openFolders: readonly string[];
  /** They belong to root. */
  readonly newFileSystems: readonly string[];
  readonly #parts: ApplePlaceParts;
  #start: AttachedStart | undefined;
  #removal: Promise<void> | undefined;

  constructor(parts: ApplePlaceParts) {
    const { spec, environment } = parts;
    this.id = spec.name;
    this.environment = environment;
    this.newFileSystems = sizedVolumes(spec).map(({ path }) => path);
    this.openFolders = [...this.newFileSystems, ...(spec.writableRoot?.folders ?? [])];
    this.#parts = parts;
  }

  /** If a start is given up, the container is removed. */
  async start(open: (stream: Duplex) => void, { signal }: CallOptions): Promise<ContainerStart> {
    const endTurn = await this.#parts.takeTurn(signal);
    try {
      throwIfCancelled(signal);
      const start = await AttachedStart.open(this.#parts.command, this.id);
      this.#start = start;
      open(start.stream);
      await untilCancelled(start.begun, signal);
    } catch (error) {
      if (signal?.aborted === true) await this.remove({});
      throw error;
    } finally {
      endTurn();
    }
    return { mountsVerified: false };
  }

  kill(): Promise<void> {
    return killContainer(this.#parts.command, this.id);
  }

  async wait({ signal }: CallOptions): Promise<void> {
    await untilCancelled(this.#start?.ended ?? Promise.resolve(), signal);
    // The command may have ended without its container.
    for (;;) {
      await this.#removal?.catch(() => undefined);
      const state = await this.#state(signal);
      if (state !== "running" && state !== "stopping") return;
      await sleep(lookMs, undefined, signal === undefined ? {} : { signal });
    }
  }

  /** The service tells no exit code, and nothing about memory: the command that we hold tells the code. */
  async inspect({ signal }: CallOptions): Promise<ContainerState> {
    const exitCode = this.#start === undefined ? null : await untilCancelled(this.#start.exitCode(), signal);
    return { running: false, exitCode, oomKilled: null };
  }

  /** Takes two seconds, and counts no kills. */
  stats({ signal }: CallOptions): Promise<ContainerStats> {
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

  commit(): Promise<string> {
    return Promise.reject(noCommit());
  }

  async remove({ signal }: CallOptions): Promise<void> {
    this.#removal = this.#remove(signal);
    await this.#removal;
  }

  async #remove(signal: AbortSignal | undefined): Promise<void> {
    const { command, spec } = this.#parts;
    await removeContainer(command, this.id, signal);
    await removeVolumes(command, namesOf(sizedVolumes(spec)), signal);
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
}
