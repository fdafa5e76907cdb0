import { ProtocolError, type FrameFields } from "./frame.ts";
import { frameLimits } from "./frame-table.ts";

/** A living process of a tree, beside the program itself. */
export interface LeftProcess {
  /** Inside. */
  readonly pid: number;
  readonly parent: number;
  /** Chosen by the program, at most 16 bytes: input is untrusted. */
  readonly name: string;
}

/** What is left of a tree, or of all. */
export interface LeftProcesses {
  /** All of them. */
  readonly count: number;
  /** The first 256. */
  readonly processes: readonly LeftProcess[];
}

const leftBytes = 24;

/** @throws ProtocolError */
export function readLeft({ count, tail }: FrameFields<"LEFT">): LeftProcesses {
  const records = recordsOf(tail, leftBytes, "LEFT");
  if (records.length !== Math.min(count, frameLimits.maxLeft)) {
    throw new ProtocolError(`LEFT with ${records.length} records of ${count}`);
  }
  const processes = records.map((record) => ({
    pid: record.readUInt32LE(0),
    parent: record.readUInt32LE(4),
    name: textBeforeNul(record.subarray(8)),
  }));
  return { count, processes };
}

/** What one tree uses now; unknown numbers are null. */
export interface TreeNumbers {
  /** Stream of its program. */
  readonly stream: number;
  readonly processes: number;
  readonly cpuMs: number | null;
  readonly residentBytes: number | null;
}

/** What the sandbox uses; what cannot be known inside is null. */
export interface SandboxNumbers {
  readonly memoryBytes: number | null;
  /** Of the memory, what holds files. */
  readonly memoryCacheBytes: number | null;
  /** In its folders in memory. */
  readonly scratchBytes: number | null;
  readonly memoryPeakBytes: number | null;
  readonly memoryLimitBytes: number | null;
  /** Processes that the kernel killed for want of memory. */
  readonly memoryKills: number | null;
  readonly cpuTimeMs: number | null;
  /** Of all block devices. */
  readonly diskReadBytes: number | null;
  readonly diskWriteBytes: number | null;
  readonly processes: number | null;
  readonly processLimit: number | null;
  /** When it was measured, by the sandbox's monotonic clock. */
  readonly monotonicMs: number;
  readonly trees: readonly TreeNumbers[];
}

const treeBytes = 24;
const unknown64 = 0xffff_ffff_ffff_ffffn;

/** @throws ProtocolError */
export function readNumbers(fields: FrameFields<"STATS">): SandboxNumbers {
  const trees = recordsOf(fields.tail, treeBytes, "STATS").map((record) => {
    const residentKb = known(record.readBigUInt64LE(16));
    return {
      stream: record.readUInt32LE(0),
      processes: record.readUInt32LE(4),
      cpuMs: known(record.readBigUInt64LE(8)),
      residentBytes: residentKb === null ? null : residentKb * 1024,
    };
  });
  if (trees.length > frameLimits.maxStreams) throw new ProtocolError(`STATS of ${trees.length} trees`);
  const cpuUs = known(fields.cpuUs);
  return {
    memoryBytes: known(fields.memoryBytes),
    memoryCacheBytes: known(fields.memoryCacheBytes),
    scratchBytes: known(fields.scratchBytes),
    memoryPeakBytes: known(fields.memoryPeakBytes),
    memoryLimitBytes: known(fields.memoryLimitBytes),
    memoryKills: known(fields.memoryKills),
    cpuTimeMs: cpuUs === null ? null : cpuUs / 1000,
    diskReadBytes: known(fields.diskReadBytes),
    diskWriteBytes: known(fields.diskWriteBytes),
    processes: known(fields.processes),
    processLimit: known(fields.processLimit),
    monotonicMs: Number(fields.monotonicUs) / 1000,
    trees,
  };
}

/** All ones: it cannot be known. */
function known(value: bigint): number | null {
  return value === unknown64 ? null : Number(value);
}

function recordsOf(tail: Uint8Array, recordBytes: number, name: string): readonly Buffer[] {
  if (tail.length % recordBytes !== 0) throw new ProtocolError(`${name} with ${tail.length} bytes of records`);
  const bytes = Buffer.from(tail.buffer, tail.byteOffset, tail.length);
  return Array.from({ length: tail.length / recordBytes }, (_, index) =>
    bytes.subarray(index * recordBytes, (index + 1) * recordBytes),
  );
}

function textBeforeNul(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
}
