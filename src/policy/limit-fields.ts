import { mebibyte } from "../base/bytes.ts";
import { maxDurationMs } from "../base/duration.ts";
import type { Limits, NumericLimit } from "./limits.ts";

/** Limits as a request or the configuration names them, in the wire's units (SPEC RT10). */
export interface RequestedLimits {
  readonly cpus?: number | undefined;
  readonly memory_mb?: number | undefined;
  readonly timeout_seconds?: number | undefined;
  readonly pids?: number | undefined;
  readonly disk_mb?: number | undefined;
}

export type LimitField = keyof RequestedLimits;

/** One limit on the wire: which of `Limits` it sets, and what numbers make sense at all. */
export interface LimitFieldRow {
  readonly limit: NumericLimit;
  /** How many of the limit's units are one of the field's. */
  readonly factor: number;
  readonly minimum: number;
  /** What the field could be if no ceiling bound it: keeps the product a number that kernels and timers take. */
  readonly maximum: number;
  /** Whether only whole numbers are taken. */
  readonly whole: boolean;
  /** Unit in the words of messages. */
  readonly unit: string;
  readonly description: string;
}

/**
 * The minima: engines refuse less than a hundredth of a CPU and 6 MB; below 16 MB no interpreter starts; a sandbox's own
 * processes take up to 4 pids; 0.1 s is about what starting an interpreter takes.
 */
export const limitFields: Readonly<Record<LimitField, LimitFieldRow>> = {
  cpus: {
    limit: "cpus",
    factor: 1,
    minimum: 0.05,
    maximum: 4096,
    whole: false,
    unit: "CPUs",
    description: "CPUs' worth of time, fractions allowed",
  },
  memory_mb: {
    limit: "memoryBytes",
    factor: mebibyte,
    minimum: 16,
    maximum: 2 ** 30,
    whole: true,
    unit: "MB",
    description: "memory in MB (MiB), without swap",
  },
  timeout_seconds: {
    limit: "timeoutMs",
    factor: 1000,
    minimum: 0.1,
    maximum: Math.floor(maxDurationMs / 1000),
    whole: false,
    unit: "seconds",
    description: "wall-clock time in seconds, fractions allowed",
  },
  pids: {
    limit: "pids",
    factor: 1,
    minimum: 8,
    maximum: 2 ** 22,
    whole: true,
    unit: "processes",
    description: "processes and threads together",
  },
  disk_mb: {
    limit: "diskBytes",
    factor: mebibyte,
    minimum: 1,
    maximum: 2 ** 30,
    whole: true,
    unit: "MB",
    description: "scratch space in MB (MiB)",
  },
};

/** The fields in the order of messages and documents. */
export const limitFieldNames: readonly LimitField[] = ["cpus", "memory_mb", "timeout_seconds", "pids", "disk_mb"];

/** What a field may be, in words, such as `a whole number of MB from 16 to 8192`. */
export function expectedLimit(field: LimitField, ceiling: number = limitFields[field].maximum): string {
  const { whole, unit, minimum } = limitFields[field];
  return `${whole ? "a whole number" : "a number"} of ${unit} from ${minimum} to ${ceiling}`;
}

/** A limit of `Limits` in the field's unit. */
export function toField(field: LimitField, limits: Limits): number {
  const { limit, factor } = limitFields[field];
  return limits[limit] / factor;
}
