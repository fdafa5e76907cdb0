import { settlesWithin } from "../../base/abort.ts";
import { Turns } from "../../base/turns.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import { uninterrupted } from "../docker-api/container/uninterrupted.ts";
import { unavailabilityOf } from "../docker-api/http/unavailability.ts";
import type { CallOptions, CapabilityOptions, Container, ContainerSummary, Engine, EngineProbe } from "../engine.ts";
import { appleCapabilities } from "./apple-capabilities.ts";
import { containersWithVolumes } from "./answers/containers-with-volumes.ts";
import { parseContainers, type ContainerFacts } from "./answers/container-answer.ts";
import type { CommandVersion } from "./answers/service-answer.ts";
import { createArguments } from "./arguments/create-arguments.ts";
import { namesOf, sizedVolumes } from "./arguments/sized-volumes.ts";
import { engineName, refusal } from "./command/command-errors.ts";
import { failureKind } from "./command/command-failure.ts";
import { ContainerCommand } from "./command/container-command.ts";
import { readAnswer } from "./command/read-answer.ts";
import { examineService } from "./command/examine-service.ts";
import { programVariables } from "../supervised/container/program-variables.ts";
import { SupervisedContainer } from "../supervised/container/supervised-container.ts";
import { readSupervisor, supervisorBinary } from "../supervised/supervisor-binary.ts";
import { imageUnavailable } from "../images/image-errors.ts";
import { noOciRuntimes } from "./container-errors.ts";
import { deadlinesMs, type Deadline } from "./deadlines.ts";
import { AppleImages } from "./images/apple-images.ts";
import { ApplePlace } from "./container/apple-place.ts";
import { removeContainer } from "./container/remove-container.ts";
import { supervisorTerms } from "./supervisor-terms.ts";
import { createVolumes, listVolumes, removeVolumes } from "./volumes.ts";

export interface AppleEngineOptions {
  /** What the command is found by and given. */
  readonly environment: Readonly<Record<string, string>>;
  readonly architecture: NodeJS.Architecture;
  /** Other deadlines than the usual ones. */
  readonly deadlines?: Readonly<Record<Deadline, number>> | undefined;
}

/** Container in which the service builds images. */
const builderId = "buildkit";

/** How long we look for what a failed creation may have left. */
const undoMs = 10_000;

/** Containers in virtual machines of their own, over Apple's `container` command. */
export class AppleEngine implements Engine {
  readonly name: string = engineName;
  readonly images: AppleImages;
  readonly #command: ContainerCommand;
  readonly #architecture: NodeJS.Architecture;
  /** The service starts containers one after another, and hangs when many are requested at once. */
  readonly #turns = new Turns();
  /** As the last probe or the first other call found it. */
  #version: CommandVersion | undefined;

  constructor({ environment, architecture, deadlines = deadlinesMs }: AppleEngineOptions) {
    this.#command = new ContainerCommand(environment, deadlines);
    this.#architecture = architecture;
    this.images = new AppleImages({
      command: this.#command,
      architecture: architecture === "x64" ? "amd64" : architecture,
      folder: environment["TMPDIR"] ?? "/tmp",
    });
  }

  async probe({ signal }: CallOptions = {}): Promise<EngineProbe> {
    try {
      const version = (this.#version = await examineService(this.#command, signal));
      const { text, build } = version;
      return {
        available: true,
        version: text,
        capabilities: appleCapabilities,
        components: [{ name: "Apple container", version: text, ...(build === undefined ? {} : { build }) }],
      };
    } catch (error) {
      const why = unavailabilityOf(error);
      if (why === null) throw error;
      return { available: false, ...why };
    }
  }

  async capabilities({ signal, ociRuntime }: CapabilityOptions = {}): Promise<Capabilities> {
    await this.#known(signal);
    if (ociRuntime !== undefined) throw noOciRuntimes(ociRuntime);
    return appleCapabilities;
  }

  async create(spec: ContainerSpec, { signal }: CallOptions = {}): Promise<Container> {
    await this.#known(signal);
    if (spec.ociRuntime !== undefined) throw noOciRuntimes(spec.ociRuntime);
    const binary = supervisorBinary(this.#architecture);
    // The service shares the file itself.
    await readSupervisor(binary);
    const words = createArguments(spec, { platform: this.images.platform, binary });
    // The command itself would pull a missing image.
    const image = await this.images.facts(spec.image, { signal });
    const takeTurn = (given: AbortSignal | undefined): Promise<() => void> => this.#turns.take(given);
    const endTurn = await takeTurn(signal);
    try {
      await this.#create(spec, words, signal);
    } finally {
      endTurn();
    }
    const environment = programVariables(spec, image);
    const place = new ApplePlace({ spec, command: this.#command, environment, takeTurn });
    const terms = supervisorTerms(spec, binary);
    // Only the command that starts it ever has its stream.
    return new SupervisedContainer({ spec, place, terms, firstEpoch: 1 });
  }

  async list(
    labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    await this.#known(signal);
    const [containers, volumes] = await Promise.all([this.#containers(signal), listVolumes(this.#command, signal)]);
    const wanted = Object.entries(labels);
    return containersWithVolumes(containers, volumes)
      .filter((facts) => wanted.every(([name, value]) => facts.labels[name] === value))
      .map(({ id, labels: own, state, createdAtMs, volumes: names }) => ({
        ...{ id, name: id, labels: own, createdAtMs },
        running: state === "running" || state === "stopping",
        remove: async (options) => {
          await removeContainer(this.#command, id, options?.signal);
          await removeVolumes(this.#command, names, options?.signal);
        },
      }));
  }

  /** Ids of all containers that run on the service, whoever made them, but for its own builder. */
  async liveContainers(): Promise<readonly string[]> {
    const found = await this.#containers(undefined);
    return found.filter(({ id, state }) => state === "running" && id !== builderId).map(({ id }) => id);
  }

  /**
   * Stops the service with everything that runs on it, and starts it.
   * @throws ENGINE_UNAVAILABLE when it does not come up
   */
  async restartService(): Promise<void> {
    await this.#command.run({ action: "stop", words: ["system", "stop"], deadline: "serviceStop" });
    const action = "start";
    // Without the option it asks on a terminal for a kernel that is missing.
    const words = ["system", "start", "--enable-kernel-install", "--timeout=60"];
    const result = await this.#command.run({ action, words, deadline: "serviceStart" });
    if (result.exitCode !== 0) throw refusal(action, result);
    this.#version = await examineService(this.#command, undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #containers(signal: AbortSignal | undefined): Promise<readonly ContainerFacts[]> {
    const words = ["list", "--all", "--format=json"];
    const call = { action: "list containers", words, deadline: "query", signal } as const;
    return readAnswer(this.#command, call, parseContainers);
  }

  /** @throws ENGINE_UNAVAILABLE when it is not installed, not running or of another version */
  async #known(signal: AbortSignal | undefined): Promise<CommandVersion> {
    return (this.#version ??= await examineService(this.#command, signal));
  }

  /** Given up, or not answered in time: it leaves no container. */
  async #create(spec: ContainerSpec, words: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const action = "create a container";
    const volumes = sizedVolumes(spec);
    const undo = async (): Promise<void> => {
      await removeContainer(this.#command, spec.name);
      await removeVolumes(this.#command, namesOf(volumes));
    };
    const begin = async (): Promise<void> => {
      try {
        await createVolumes(this.#command, volumes, spec.labels);
        const result = await this.#command.run({ action, words, deadline: "create" });
        if (result.exitCode === 0) return;
        if (failureKind(result.stderr) === "no-image") throw imageUnavailable(spec.image, "it is not present");
        throw refusal(action, result);
      } catch (error) {
        // It may have come as far as a container.
        if (volumes.length > 0 || (error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE")) {
          await settlesWithin(undo(), undoMs);
        }
        throw error;
      }
    };
    await uninterrupted(begin, undo, signal);
  }
}
