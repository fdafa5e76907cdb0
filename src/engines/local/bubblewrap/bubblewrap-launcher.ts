import { closeSync } from "node:fs";
import type { Duplex } from "node:stream";
import type { ContainerStats } from "../../container-stats.ts";
import type { ExecSpec } from "../../engine.ts";
import type { Launcher, PreparedProgram, ProgramRun } from "../launcher.ts";
import { ProgramPipes, type ProgramEnds } from "./pipes/program-pipes.ts";
import { NamespaceDialer } from "./run/namespace-dialer.ts";
import { prepareRun, type ContainerParts } from "./run/prepare-run.ts";
import { SandboxRun } from "./run/sandbox-run.ts";

export interface BubblewrapLauncherParts extends ContainerParts {
  /** Whether the network namespace stays open for `onRemoved`. */
  readonly keepsNetwork: boolean;
  readonly onRemoved: () => void;
}

/** Doing it more often finds no more: pipes used in between take just as long to be handed out. */
const memoryIntervalMs = 50;

/**
 * Gives each program of a container its own sandbox over the container's mounts. Whatever a program leaves running ends
 * with that sandbox.
 */
export class BubblewrapLauncher implements Launcher {
  readonly memoryIntervalMs: number | null;
  /** Scratch places are mounts with their own sizes. */
  readonly unlimitedFolders: readonly string[] = [];
  readonly #parts: BubblewrapLauncherParts;
  #dialer: NamespaceDialer | null = null;
  /** Whether a program has been started in it. */
  #hasRun = false;
  #isRemoved = false;

  constructor(parts: BubblewrapLauncherParts) {
    this.#parts = parts;
    this.memoryIntervalMs = parts.host.capabilities.memoryLimit === "yes" ? null : memoryIntervalMs;
  }

  async prepare(): Promise<PreparedProgram> {
    const pipes = await ProgramPipes.open(this.#parts.host.pipes);
    return {
      stdin: pipes.stdin,
      output: pipes.output,
      launch: (spec) => {
        const run = this.#launch(spec, pipes.ends);
        pipes.closeProgramEnds();
        return run;
      },
      finish: () => pipes.finish(),
    };
  }

  launch(spec: ExecSpec): ProgramRun {
    return this.#launch(spec, null);
  }

  folderOf(path: string): string {
    return path;
  }

  async connect(port: number, signal: AbortSignal | undefined): Promise<Duplex | "refused" | "lost"> {
    const { host, networkDescriptor } = this.#parts;
    if (this.#isRemoved) return "lost";
    if (this.#dialer === null || this.#dialer.isOver)
      this.#dialer = new NamespaceDialer({ ...host, networkDescriptor });
    return this.#dialer.dial(port, signal);
  }

  stats(): ContainerStats {
    return this.#parts.group.counters.stats;
  }

  /** Nothing escapes: when its first process ends, the whole sandbox ends. */
  endStrays(): Promise<void> {
    return Promise.resolve();
  }

  async remove(): Promise<void> {
    const { mountDescriptor, networkDescriptor, keepsNetwork, group, onRemoved } = this.#parts;
    this.#isRemoved = true;
    await this.#dialer?.close();
    closeSync(mountDescriptor);
    if (!keepsNetwork) closeSync(networkDescriptor);
    await group.remove();
    onRemoved();
  }

  #launch(spec: ExecSpec, ends: ProgramEnds | null): ProgramRun {
    const { group } = this.#parts;
    group.countSandbox(true);
    let run: SandboxRun;
    try {
      const isFirst = !this.#hasRun;
      this.#hasRun = true;
      run = new SandboxRun(prepareRun(this.#parts, spec, { ends, isFirst }));
    } catch (error) {
      group.countSandbox(false);
      throw error;
    }
    void run.ended.then(() => group.countSandbox(false));
    return run;
  }
}
