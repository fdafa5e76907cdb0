import type { Duplex, Writable } from "node:stream";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { EngineComponent, EngineSetup } from "../engine-setup.ts";
import type { ContainerStats } from "../container-stats.ts";
import type { ExecSpec, OutputChunk, ProcessExit, ProcessSignal } from "../engine.ts";

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
  /**
   * Provides what a command needs and the host may not have yet. Left out: nothing is needed.
   * @throws ENGINE_UNAVAILABLE, CANCELLED
   */
  provide?(command: readonly string[], signal: AbortSignal | undefined): Promise<void>;
  /** Makes the lasting parts of one container; if anything goes wrong, nothing is left of it. */
  makeLauncher(spec: ContainerSpec, signal: AbortSignal | undefined): Promise<Launcher>;
  /** Gives back what it holds; its containers have been removed. Left out: nothing. */
  close?(): void;
}

/** Starts the programs of one container, and holds what lasts between them: folders, mounts, limits. */
export interface Launcher {
  /**
   * How often the memory of its programs must be looked at; null where the kernel limits it, or where it cannot be
   * measured.
   */
  readonly memoryIntervalMs: number | null;
  /** Real paths of folders without a limit of their own, which must be measured. */
  readonly unlimitedFolders: readonly string[];
  /** Opens streams for a program that is to be launched. */
  prepare(): Promise<PreparedProgram>;
  /** Starts a program without streams: no input, and output to nowhere. */
  launch(spec: ExecSpec): ProgramRun;
  /** As `Container.folderOf`. */
  folderOf(path: string): string;
  /** Connects to a port of the loopback that all programs of the container share; left out where they have no network. */
  connect?(port: number, signal: AbortSignal | undefined): Promise<Duplex | "refused" | "lost">;
  /** What the kernel counts for all programs together; null for what it does not count. */
  stats(): ContainerStats;
  /** Ends processes that escaped when their programs were killed; resolves when nothing is left. */
  endStrays(): Promise<void>;
  /** To be called when no program runs. */
  remove(): Promise<void>;
}

/** The streams of one program, and its start. */
export interface PreparedProgram {
  readonly stdin: Writable;
  readonly output: AsyncIterable<OutputChunk>;
  launch(spec: ExecSpec): ProgramRun;
  /**
   * Called after the program's end, or when it will never be launched: what its streams still hold stays readable.
   * Resolves when nothing is open that the container's removal has to wait for.
   */
  finish(): Promise<void>;
}

/** A program on its way from launch to end. */
export interface ProgramRun {
  /** Settles when the operating system has made the process, or could not. */
  readonly launched: Promise<void>;
  /** Resolves when nothing is left of it and of what it started; an error: it was lost. */
  readonly ended: Promise<ProcessExit | GloveboxError>;
  /** Of the program and what it started, as far as it can be told; null: not at all. */
  readMemory(): Promise<MemoryUse | null>;
  /** SIGKILL to the program and all that it started. */
  kill(): Promise<void>;
  /** SIGTERM to the same. */
  terminate(): Promise<void>;
  /** Kills it for a reason that is written to its standard error where that is possible. */
  endFor(reason: string): Promise<void>;
  /** A signal to the program's own process. */
  signal(signal: ProcessSignal): Promise<SignalOutcome>;
}

/** `none`: there was no such process; `hindered`: the sender was held up and has been ended. */
export type SignalOutcome = "sent" | "none" | "hindered";

/** Memory of a process, or of several together. */
export interface MemoryUse {
  readonly bytes: number;
  readonly peakBytes: number;
}
