import type { ContainerSpec } from "../container-spec.ts";
import type { EngineName } from "../engine.ts";
import type { EngineComponent, EngineConnection, EngineSetup } from "../capabilities.ts";
import type { ApiRequest } from "./http/api-answer.ts";
import type { InfoAnswer, ComponentsAnswer, SetupAnswer } from "./engine-capabilities.ts";
import type { SharedFiles } from "./own-container.ts";
import type { OwnFile } from "../container-users.ts";
import type { ImageFacts } from "./images.ts";
import type { RuntimeKind } from "./oci-runtime.ts";
import type { Unavailability } from "../unavailability.ts";

/** What differs between engines with Docker's API; everything else is shared. */
export interface Dialect {
  readonly name: EngineName;
  /** The product's name in messages. */
  readonly title: string;
  /** The call that makes a container; its answer has the container's `Id`. @throws UNSUPPORTED */
  createCall(spec: ContainerSpec, circumstances: CreateCircumstances): Promise<CreateCall>;
  /** How the engine describes itself and its machine, corrected where it claims more than it does. */
  examine(describe: Describe, connection: EngineConnection): Promise<EngineAccount>;
  /** Names of the OCI runtimes that `createCall` can ask for. */
  runtimes(answer: MachineAnswer): readonly string[];
  /** One sentence: how people can add another runtime to the engine. */
  readonly howToAddRuntime: string;
  /** Whether local builds whose name says no registry get the registry `localhost`. */
  readonly namesLocalBuilds: boolean;
  /** Whether a pull without credentials of ours has none; otherwise the engine then uses those of its machine. */
  readonly pullsAnonymously: boolean;
  /** Whether a descriptor of ours can be mounted, at least where the engine shares our mounts and processes. */
  readonly mountsByHandle: boolean;
  /** Whether an inspection that reports no out-of-memory kill can be trusted. */
  readonly deniesOom: boolean;
  /** Whether a refusal means that the container is not running (any more). */
  isNotRunning(status: number, reason: string): boolean;
  /** Version for people. */
  version(answer: VersionAnswer): string;
  /** Why an engine that answers cannot be used, such as another product behind the same API; null when it can. */
  foreignness(answer: VersionAnswer): Unavailability | null;
}

/** What is known when a container is created. */
export interface CreateCircumstances {
  readonly seccompProfile: object;
  /** Of the runtime that the container will have. */
  readonly runtimeKind: RuntimeKind;
  readonly image: ImageFacts;
  readonly setup: EngineSetup;
  /** Whether mounts with an identity are made of what we hold open; only where `Dialect.mountsByHandle`. */
  readonly mountsByHandle: boolean;
  /** Id of a container whose volumes, read-only, stand in for the mounts; left out: nothing does. */
  readonly volumesFrom?: string | undefined;
  /** Name of the volume with the supervisor. */
  readonly supervisorVolume: string;
  /** Files of it that have a place of their own. */
  readonly ownFiles: readonly OwnFile[];
}

export type CreateCall = Pick<ApiRequest, "path" | "query"> & { readonly body: object };

/** Asks the engine one question about itself. */
export type Describe = <T extends object>(path: string) => Promise<T>;

export type MachineAnswer = InfoAnswer & SetupAnswer;

/** What an engine answers when asked what it is. */
export interface EngineAccount {
  readonly version: VersionAnswer & ComponentsAnswer;
  readonly machine: MachineAnswer;
}

/** What an engine is, as far as it was asked. */
export interface Machine {
  readonly version: string;
  readonly answer: MachineAnswer;
  readonly components: readonly EngineComponent[];
  readonly setup: EngineSetup;
  readonly files: SharedFiles;
}

/** The part of `/version` that is read. */
export interface VersionAnswer {
  readonly Version?: string;
  readonly Os?: string;
  readonly Components?: readonly { readonly Name?: string; readonly Version?: string }[] | null;
}
