import type { ContainerSpec } from "../../src/engines/container-spec.ts";
import { unknownStats, type ContainerStats } from "../../src/engines/container-stats.ts";
import type { ContainerState } from "../../src/engines/engine.ts";
import { channelTimes } from "../../src/engines/supervised/channel/channel.ts";
import type { EngineContainer } from "../../src/engines/supervised/container/engine-container.ts";
import {
  SupervisedContainer,
  type SupervisedContainerParts,
} from "../../src/engines/supervised/container/supervised-container.ts";
import { standInTerms, SupervisorStandIn } from "./supervisor-stand-in.ts";

/** An engine's container with a stand-in for a supervisor in it, whose end comes with that of its stream. */
export class StandInContainer implements EngineContainer {
  openFolders: readonly string[] = [];
  newFileSystems: readonly string[] = [];
  readonly engine = { name: "test", title: "Test engine" };
  readonly id = "c1";
  readonly environment: Readonly<Record<string, string>> = { PATH: "/bin", FROM: "image" };
  readonly calls: string[] = [];
  state: ContainerState = { running: false, exitCode: 0, oomKilled: false };
  engineStats: ContainerStats = { ...unknownStats, memoryBytes: 4711 };
  /** Whether the supervisor introduces itself; default true. */
  saysHello = true;
  /** What its introduction says otherwise than expected. */
  helloInstead: Parameters<SupervisorStandIn["hello"]>[0] = {};
  /** Whether the end of the stream is that of the container; default true. */
  endsWithStream = true;
  firstEpoch: number;
  standIn: SupervisorStandIn | undefined;
  #ended = Promise.withResolvers<void>();

  constructor(firstEpoch: number) {
    this.firstEpoch = firstEpoch;
  }

  async start(open: (stream: SupervisorStandIn["transport"]) => void): Promise<{ readonly mountsVerified: boolean }> {
    this.calls.push("start");
    this.#ended = Promise.withResolvers<void>();
    const standIn = new SupervisorStandIn(this.firstEpoch);
    this.firstEpoch += 1;
    this.standIn = standIn;
    standIn.side.on("end", () => {
      if (this.endsWithStream) this.#ended.resolve();
    });
    standIn.side.on("close", () => {
      if (this.endsWithStream) this.#ended.resolve();
    });
    open(standIn.transport);
    if (this.saysHello) standIn.hello(this.helloInstead);
    return { mountsVerified: true };
  }

  async kill(): Promise<void> {
    this.calls.push("kill");
    this.#ended.resolve();
  }

  wait(): Promise<void> {
    return this.#ended.promise;
  }

  async inspect(): Promise<ContainerState> {
    this.calls.push("inspect");
    return this.state;
  }

  async stats(): Promise<ContainerStats> {
    return this.engineStats;
  }

  async writtenBytes(): Promise<number> {
    return 5;
  }

  async writtenFolder(): Promise<string> {
    return "/upper";
  }

  async commit(labels: Readonly<Record<string, string>>): Promise<string> {
    this.calls.push(`commit ${JSON.stringify(labels)}`);
    return "image";
  }

  async remove(): Promise<void> {
    this.calls.push("remove");
    this.#ended.resolve();
  }
}

export interface SupervisedScene {
  readonly place: StandInContainer;
  readonly container: SupervisedContainer;
}

const spec: ContainerSpec = {
  name: "c1",
  image: "image",
  environment: { HOME: "/tmp", FROM: "spec" },
  workingDirectory: "/work",
  labels: {},
  limits: { cpus: 1, memoryBytes: 1, pids: 1 },
  scratch: [],
};

/** A container that does not run yet. */
export function supervisedScene(
  instead: Partial<ContainerSpec> = {},
  parts: Partial<SupervisedContainerParts> = {},
): SupervisedScene {
  const place = new StandInContainer(7);
  const times = { ...channelTimes, pingMs: 3_600_000 };
  const terms = standInTerms;
  const container = new SupervisedContainer({
    ...{ spec: { ...spec, ...instead }, place, terms, times, firstEpoch: 7 },
    ...parts,
  });
  return { place, container };
}

/** One that runs. */
export async function startedScene(
  instead: Partial<ContainerSpec> = {},
  parts: Partial<SupervisedContainerParts> = {},
): Promise<SupervisedScene & { readonly standIn: SupervisorStandIn }> {
  const scene = supervisedScene(instead, parts);
  await scene.container.start();
  return { ...scene, standIn: scene.place.standIn! };
}
