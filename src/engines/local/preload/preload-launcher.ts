import type { ContainerSpec } from "../../container-spec.ts";
import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import type { ExecSpec } from "../../engine.ts";
import type { Launcher, PreparedProgram, ProgramRun } from "../launcher.ts";
import type { ContainerFolder } from "./folders/container-folder.ts";
import type { ArrangeProgram } from "./guards/host-program.ts";
import { launchPrefix } from "./launch-prefix.ts";
import type { PreloadHost } from "./preload-host.ts";
import { PreloadRun } from "./preload-run.ts";
import { PreloadStreams } from "./preload-streams.ts";
import { endStrays } from "./processes/end-strays.ts";
import { memoryIntervalMs } from "./processes/memory-use.ts";

export interface PreloadLauncherParts {
  readonly spec: ContainerSpec;
  readonly host: PreloadHost;
  readonly folder: ContainerFolder;
  /** The host's user that its programs run as; null: our own. */
  readonly hostUid: number | null;
  readonly arrange: ArrangeProgram;
  readonly onRemoved: () => void;
}

const defaultOpenFiles = 16_384;

/** Starts guarded programs on the host itself, in folders of the host. */
export class PreloadLauncher implements Launcher {
  readonly memoryIntervalMs: number | null;
  readonly unlimitedFolders: readonly string[];
  readonly #parts: PreloadLauncherParts;

  constructor(parts: PreloadLauncherParts) {
    this.#parts = parts;
    this.memoryIntervalMs = memoryIntervalMs(parts.host.platform);
    this.unlimitedFolders = [...parts.folder.places.values()];
  }

  async prepare(): Promise<PreparedProgram> {
    await this.#parts.folder.reopen();
    const streams = new PreloadStreams();
    return {
      stdin: streams.stdin,
      output: streams.output,
      launch: (spec) => this.#launch(spec, streams),
      finish: () => streams.finish(),
    };
  }

  launch(spec: ExecSpec): ProgramRun {
    return this.#launch(spec, null);
  }

  folderOf(path: string): string {
    return this.#parts.folder.folderOf(path);
  }

  stats(): ContainerStats {
    return unknownStats;
  }

  async endStrays(): Promise<void> {
    const { folder, hostUid, host } = this.#parts;
    await endStrays({ folder: folder.path, hostUid }, host.platform);
  }

  async remove(): Promise<void> {
    await this.#parts.folder.remove();
    this.#parts.onRemoved();
  }

  #launch(request: ExecSpec, streams: PreloadStreams | null): ProgramRun {
    const { spec, host, folder, hostUid, arrange } = this.#parts;
    const { limits } = spec;
    const environment = { ...host.environmentFor(folder.temporaryFolder), ...spec.environment, ...request.environment };
    const program = arrange({
      command: request.command,
      environment,
      writable: [...folder.places.values()],
      readable: [...folder.readOnly.values()],
      guardFolder: folder.guardFolder,
      temporaryFolder: folder.temporaryFolder,
      folderOf: folder.folderOf,
      threads: limits.pids,
      memoryBytes: limits.memoryBytes,
    });
    const prefix = launchPrefix(host.tools, {
      openFiles: Math.min(limits.openFiles ?? defaultOpenFiles, host.openFilesCeiling),
      fileBytes: Math.max(0, ...spec.scratch.map(({ sizeBytes }) => sizeBytes)),
      // The watch ends what grows slowly; this stops what is faster than the watch.
      dataBytes: program.boundsData ? 2 * limits.memoryBytes : null,
      hostUid,
    });
    return new PreloadRun({
      platform: host.platform,
      command: [...prefix, program.file, ...program.arguments],
      environment: program.environment,
      workingDirectory: folder.folderOf(request.workingDirectory ?? spec.workingDirectory ?? "/"),
      streams,
    });
  }
}
