import type { Containers } from "./docker/containers.ts";
import type { DockerApi } from "./docker/docker-api.ts";
import type { ImageStore } from "./images/image-store.ts";
import type { ParsedOptions } from "./parser/parsed-options.ts";
import type { CommandSignals } from "./program/signals.ts";
import type { FaultKind } from "./state/faults.ts";
import type { Settings } from "./state/settings.ts";

/** Everything that a command can use during one call. */
export interface Context {
  readonly settings: Settings;
  /** Folder of the installation. */
  readonly folder: string;
  readonly options: ParsedOptions;
  readonly fault: FaultKind | undefined;
  readonly api: DockerApi;
  readonly containers: Containers;
  readonly images: ImageStore;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly say: Say;
  readonly signals: CommandSignals;
}

/** Where a command writes. */
export interface Say {
  /** A line on standard output. */
  out(line: string): void;
  /** A line on standard error. */
  err(line: string): void;
}

/** What a command does; resolves to its exit code if that is not the default. */
export type Work = (context: Context) => Promise<void>;
