import type { ContainerSpec } from "../container-spec.ts";
import type { EngineName, OutputStream } from "../engine.ts";
import type { EngineComponent, EngineConnection, EngineSetup } from "../engine-setup.ts";
import type { ApiRequest } from "./http/api-request.ts";
import type { InfoAnswer } from "./engine-capabilities.ts";
import type { ComponentsAnswer, SetupAnswer } from "./engine-setup.ts";
import type { SharedFiles } from "./mounts/own-container.ts";
import type { ImageFacts } from "./images/images.ts";
import type { RuntimeKind } from "./oci-runtime.ts";
import type { Unavailability } from "./http/unavailability.ts";

/** What differs between the engines that speak Docker's API; everything else is shared. */
export interface Dialect {
  readonly name: EngineName;
  /** The product's name in messages. */
  readonly title: string;
  /** The call that makes a container; its answer has the container's `Id`. @throws UNSUPPORTED */
  createCall(spec: ContainerSpec, circumstances: CreateCircumstances): Promise<CreateCall>;
  /** The engine's account of itself and of its machine, corrected where it claims more than it does. */
  examine(describe: Describe, connection: EngineConnection): Promise<EngineAccount>;
  /** Names of the OCI runtimes that `createCall` can be asked for. */
  runtimes(answer: MachineAnswer): readonly string[];
  /** One sentence: how people let the engine have another runtime. */
  readonly howToAddRuntime: string;
  /** Whether a mount can be made of a descriptor of ours, at least where the engine shares our mounts and processes. */
  readonly mountsByHandle: boolean;
  /** Whether an inspection that tells of no out-of-memory kill can be believed. */
  readonly deniesOom: boolean;
  /** How an exec that could not start its program tells so; null when it is told in no stream. */
  readonly runtimeFailure: RuntimeFailureMarker | null;
  /** What the engine itself may say at the end of a program's standard error; ends with `$`. */
  readonly lastWords: RegExp;
  /** Whether a refusal says that the container does not run (any more). */
  isNotRunning(status: number, reason: string): boolean;
  /** Version for people. */
  version(answer: VersionAnswer): string;
  /** Why an engine that answers is none that we can use, such as another product behind the same API; null when it is. */
  foreignness(answer: VersionAnswer): Unavailability | null;
}

/** What is known when a container is made. */
export interface CreateCircumstances {
  readonly seccompProfile: object;
  /** Of the runtime that the container will have. */
  readonly runtimeKind: RuntimeKind;
  readonly image: ImageFacts;
  readonly setup: EngineSetup;
  /** Whether mounts with an identity are to be made of what we hold open; only where `Dialect.mountsByHandle`. */
  readonly mountsByHandle: boolean;
  /** Id of a container whose volumes, read-only, stand in for the mounts; left out: nothing does. */
  readonly volumesFrom?: string | undefined;
}

export type CreateCall = Pick<ApiRequest, "path" | "query"> & { readonly body: object };

/** Asks the engine one question about itself. */
export type Describe = <T extends object>(path: string) => Promise<T>;

export type MachineAnswer = InfoAnswer & SetupAnswer;

/** What an engine says when it is asked what it is. */
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

/** Where and how the container runtime's own words appear when the program was never started. */
export interface RuntimeFailureMarker {
  readonly stream: OutputStream;
  /** One for each runtime that words them differently. */
  readonly prefixes: readonly string[];
  /** Exit codes of an exec that go with it; null where its inspection shows process id 0 for no other reason. */
  readonly exitCodes: readonly number[] | null;
}

/** The part of `/version` that is read. */
export interface VersionAnswer {
  readonly Version?: string;
  readonly Os?: string;
  readonly Components?: readonly { readonly Name?: string; readonly Version?: string }[] | null;
}
