import type { ContainerSpec } from "../container-spec.ts";
import type { CallOptions, EngineName, Process } from "../engine.ts";
import type { KeeperAnswer, KeeperQuestion } from "./keeper.ts";
import type { LiveExecs } from "./live-execs.ts";

/** What an engine's `exec` must do here, and nothing else: no part of it ends or marks a program. */
export interface ContainerExec {
  /** For messages. */
  readonly engine: { readonly name: EngineName; readonly title: string };
  readonly spec: ContainerSpec;
  /** Starts a program. Given up once the engine has begun, it resolves nevertheless, so that the program can be ended. */
  readonly start: (program: InsideProgram, options: CallOptions) => Promise<StartedProgram>;
  /** Whether the container still runs, by the engine's own account; asked where no keeper answers. */
  readonly isRunning: () => Promise<boolean>;
}

/** A program with all that it gets: nothing is added to its variables. */
export interface InsideProgram {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Undefined: the root. */
  readonly workingDirectory: string | undefined;
  /** `uid:gid` */
  readonly user: string;
  /** Left out of programs that nobody ends. */
  readonly ending?: ProgramEnding | undefined;
}

/** What an engine may want to know of a program that is being killed. */
export interface ProgramEnding {
  /** Whether a kill was asked for: what then hinders its start is the killing. */
  isKilled(): boolean;
  /** Resolves when SIGKILL has reached everything: an engine may wait until its stream is emptied. */
  readonly killed: Promise<void>;
}

export type StartedProgram = Pick<Process, "stdin" | "output" | "exit">;

/** A container with what is known of the programs inside. */
export interface RunningContainer extends ContainerExec {
  readonly execs: LiveExecs;
  /** `silent` also of a container that has no keeper. */
  askKeeper(question?: KeeperQuestion): Promise<KeeperAnswer | "gone" | "silent">;
  /** An answer of the keeper is proof; engines learn of a death some milliseconds later. */
  isAlive(): Promise<boolean>;
}
