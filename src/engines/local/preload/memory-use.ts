import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { kibibyte } from "../../../base/bytes.ts";
import { readFromThreads } from "../../../base/process-stat.ts";

/** Memory of a process, or of several together. */
export interface MemoryUse {
  readonly bytes: number;
  readonly peakBytes: number;
}

/** How often programs are looked at; `ps` costs a process. Null where nothing can be learned. */
export function memoryIntervalMs(platform: NodeJS.Platform): number | null {
  if (platform === "linux") return 50;
  return platform === "win32" ? null : 500;
}

/** Reads a `status` of `/proc`; null of a thread that has ended, and once a process has given its memory back. */
export function parseStatus(status: string): MemoryUse | null {
  const bytes = kibibytesOf(/^VmRSS:\s+(\d+) kB$/m.exec(status));
  const peakBytes = kibibytesOf(/^VmHWM:\s+(\d+) kB$/m.exec(status));
  return bytes === null || peakBytes === null ? null : { bytes, peakBytes };
}

/** Memory of a process now; null when it has ended. */
export async function readMemory(processId: number, platform: NodeJS.Platform): Promise<MemoryUse | null> {
  if (platform === "linux") return readFromThreads(processId, readStatus);
  const output = await new Promise<string>((resolve) => {
    execFile("/bin/ps", ["-o", "rss=", "-p", String(processId)], { env: {} }, (_error, stdout) => resolve(stdout));
  });
  const bytes = kibibytesOf(/^\s*(\d+)\s*$/.exec(output));
  return bytes === null ? null : { bytes, peakBytes: bytes };
}

function readStatus(folder: string): MemoryUse | null {
  try {
    return parseStatus(readFileSync(`${folder}/status`, "latin1"));
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

function kibibytesOf(found: RegExpExecArray | null): number | null {
  return found?.[1] === undefined ? null : Number(found[1]) * kibibyte;
}
