import type { Capabilities } from "../../engines/capabilities.ts";
import type { Limits } from "../../policy/limits.ts";
import type { DiskScratch } from "../../sandbox/disk-scratch.ts";
import { WatchedScratch, type WatchedScratchOptions } from "./watched-scratch.ts";

/** The scratch that a run or a session will have. */
export interface ScratchDemand {
  readonly limits: Limits;
  /** Whether its size was requested by name, in the request or the configuration. */
  readonly isDiskNamed: boolean;
  /** Further folders that share it with the working and the temporary folder; default: none. */
  readonly folders?: readonly string[] | undefined;
}

/**
 * Scratch on this machine's disk where more is asked for by name than memory has room for (SPEC LI1). Null where the
 * engine's own is large enough or no other can be had: then the result says how large it is.
 */
export type OpenLargeScratch = (demand: ScratchDemand, capabilities: Capabilities) => Promise<WatchedScratch | null>;

export interface LargeScratchParts extends Omit<WatchedScratchOptions, "diskBytes" | "folders"> {
  readonly diskScratch: Pick<DiskScratch, "make" | "serves">;
}

export function openLargeScratch(parts: LargeScratchParts): OpenLargeScratch {
  return async ({ limits, isDiskNamed, folders }, capabilities) => {
    const { diskBytes, memoryBytes } = limits;
    if (!isDiskNamed || diskBytes <= memoryBytes / 2 || !parts.diskScratch.serves(capabilities)) return null;
    return WatchedScratch.open({ ...parts, diskBytes, folders });
  };
}
