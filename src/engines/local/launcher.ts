import type { Duplex, Writable } from "node:stream";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { EngineComponent, EngineSetup } from "../engine-setup.ts";
import type { ContainerStats } from "../container-stats.ts";
import type { ExecSpec, OutputChunk, ProcessExit, ProcessSignal } from "../engine.ts";

/** Exit code of what dies by SIGKILL, as all do that die with their container. */
export const killedExitCode = 137;

/** A level of isolation (SPEC RT5) that this host reaches, ready to take containers. */
export interface Level {
  /** Of what it rests on, such as `bubblewrap 0.8.0`. */
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly components: readonly EngineComponent[];
  readonly setup: EngineSetup;
  /** Paths of the interpreters on the host; null for what it has not. */
  readonly interpreterPaths: readonly (string | null)[];
  /** Has there what a command needs and the host may lack as yet. Left out: nothing is. @throws ENGINE_UNAVAILABLE, CANCELLED */
  provide?(command: readonly string[], signal: AbortSignal | undefined): Promise<void>;
  /** Makes what lasts of one container; whatever goes wrong, nothing is left of it. */
  makeLauncher(spec: ContainerSpec, signal: AbortSignal | undefined): Promise<Launcher>;
  /** Gives back what it holds; its containers have been removed. Left out: nothing. */
  close?(): void;
}

/** Starts the programs of one container, and holds what lasts between them: folders, mounts, limits. */
export interface Launcher {
  /** How often the memory of its programs has to be looked at; null where the kernel limits it, or nothing can be learned. */
  readonly memoryIntervalMs: number | null;
  /** Real paths of folders without a limit of their own, which have to be measured. */
  readonly unlimitedFolders: readonly string[];
  /** Opens streams for a program that is to be launched. */
  prepare(): Promise<PreparedProgram>;
  /** Starts a program without streams: no input, and output to nowhere. */
  launch(spec: ExecSpec): ProgramRun;
  /** As `Container.folderOf`. */
  folderOf(path: string): string;
  /** Connects to a port of the loopback that all programs of the container share; left out where they have no network. */
  connect?(port: number, signal: AbortSignal | undefined): Promise<Duplex | "refused" | "lost">;
  /** What the kernel counts of the programs together; what it does not count is null. */
  stats(): ContainerStats;
  /** Ends what got away from programs that were killed; resolves when nothing is left. */
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
   * To be called after the program's end, or when it will never be launched: what its streams still hold stays readable.
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
  /** Kills it for a reason that its standard error tells where that can be written. */
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
