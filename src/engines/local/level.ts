import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { EngineComponent, EngineSetup } from "../engine-setup.ts";
import type { Container } from "../engine.ts";

/** Exit code of a process that SIGKILL ended, which is how every process ends that dies with its container. */
export const killedExitCode = 137;

/** A level of isolation (SPEC RT5) that this host supports, ready for containers. */
export interface Level {
  /** What it is based on, such as `bubblewrap 0.8.0`. */
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly components: readonly EngineComponent[];
  readonly setup: EngineSetup;
  /** Paths of the interpreters on the host; null for what it has not. */
  readonly interpreterPaths: readonly (string | null)[];
  /** Makes the lasting parts of one container; if anything goes wrong, nothing is left of it. */
  makeContainer(spec: ContainerSpec, options: MakeOptions): Promise<LevelContainer>;
  /** Gives back what it holds; its containers have been removed. Left out: nothing. */
  close?(): void;
}

export interface MakeOptions {
  readonly signal: AbortSignal | undefined;
  /** Called when all of it is gone. */
  readonly onRemoved: () => void;
}

export interface LevelContainer {
  readonly container: Container;
  readonly isRunning: () => boolean;
}
