import { gibibyte, mebibyte } from "../base/bytes.ts";
import { maxDurationMs } from "../base/duration.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";

/** What a sandbox may use. All are hard; a run that reaches one ends or is refused, never slowed silently. */
export interface Limits {
  /** CPUs' worth of time, fractions allowed. */
  readonly cpus: number;
  /** Memory of everything in the sandbox together, without swap. */
  readonly memoryBytes: number;
  /** Wall-clock time of a run; in an environment, of each command. */
  readonly timeoutMs: number;
  /** Processes and threads together (a Node process has about 11). */
  readonly pids: number;
  /** Scratch space; `divideScratch` says how it is shared out. */
  readonly diskBytes: number;
  /** Whether the request named `diskBytes`: only then does its result say where scratch is. Left out: a default. */
  readonly isDiskRequested?: true | undefined;
}

/** The limits that are numbers. */
type NumericLimit = Exclude<keyof Limits, "isDiskRequested">;

/** Kinds of sandbox that have limits of their own, the kinds of the label `glovebox.kind`. */
export const limitKinds = ["session", "execute", "test", "preview", "environment", "agent"] as const;
export type LimitKind = (typeof limitKinds)[number];

/** Limits when neither the configuration nor the request says otherwise (SPEC LI1's table). */
export const defaultLimits: Readonly<Record<LimitKind, Limits>> = {
  session: { cpus: 2, memoryBytes: 512 * mebibyte, timeoutMs: 30_000, pids: 100, diskBytes: gibibyte },
  execute: { cpus: 1, memoryBytes: 512 * mebibyte, timeoutMs: 30_000, pids: 100, diskBytes: gibibyte },
  test: { cpus: 1, memoryBytes: 2 * gibibyte, timeoutMs: 300_000, pids: 512, diskBytes: gibibyte },
  preview: { cpus: 1, memoryBytes: gibibyte, timeoutMs: 1_800_000, pids: 512, diskBytes: gibibyte },
  environment: { cpus: 2, memoryBytes: 2 * gibibyte, timeoutMs: 120_000, pids: 512, diskBytes: 10 * gibibyte },
  agent: { cpus: 2, memoryBytes: 2 * gibibyte, timeoutMs: 1_800_000, pids: 512, diskBytes: 10 * gibibyte },
};

/** What no request may exceed when the configuration says nothing (SPEC LI1). */
export const defaultCeilings: Limits = {
  cpus: 4,
  memoryBytes: 8192 * mebibyte,
  timeoutMs: 3_600_000,
  pids: 4096,
  diskBytes: 10 * gibibyte,
};

/** The limits with each that is above its ceiling brought down to it: for defaults only, never for what was asked. */
export function withinCeilings(limits: Limits, ceilings: Limits): Limits {
  return {
    cpus: Math.min(limits.cpus, ceilings.cpus),
    memoryBytes: Math.min(limits.memoryBytes, ceilings.memoryBytes),
    timeoutMs: Math.min(limits.timeoutMs, ceilings.timeoutMs),
    pids: Math.min(limits.pids, ceilings.pids),
    diskBytes: Math.min(limits.diskBytes, ceilings.diskBytes),
  };
}

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
interface LimitFieldRow {
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

/** What no request may exceed, and which of it the caller's API key is the reason for. */
interface Ceilings extends Limits {
  readonly ofKey?: readonly LimitField[] | undefined;
}

/** What decides the limits of one sandbox. */
interface LimitsRequest {
  readonly kind: LimitKind;
  /** The deployment's defaults; one above its ceiling comes down to it. */
  readonly defaults: Readonly<Record<LimitKind, Limits>>;
  readonly ceilings: Ceilings;
  /** What the request asks for; a field left out takes the default. */
  readonly requested?: RequestedLimits | undefined;
  /** Names of fields that do not come from `limits`, such as `{ timeout_seconds: "timeout_seconds" }`. */
  readonly fieldNames?: Readonly<Partial<Record<LimitField, string>>> | undefined;
}

/**
 * The limits of one sandbox: what was asked where something was asked, else the kind's default (SPEC LI1, LI2).
 * @throws INVALID_REQUEST naming the field, what it may be and, above it, the deployment's ceiling
 */
export function resolveLimits(request: LimitsRequest): Limits {
  const { kind, defaults, ceilings, requested = {}, fieldNames = {} } = request;
  const limits: { -readonly [limit in NumericLimit]: number } = { ...withinCeilings(defaults[kind], ceilings) };
  for (const field of limitFieldNames) {
    const value: unknown = requested[field];
    if (value === undefined) continue;
    const name = fieldNames[field] ?? `limits.${field}`;
    limits[limitFields[field].limit] = checkLimit(field, value, { name, ceilings });
  }
  return requested.disk_mb === undefined ? limits : { ...limits, isDiskRequested: true };
}

/** The deployment's ceilings with those of a key that are lower. */
export function grantedCeilings(deployment: Limits, granted: RequestedLimits): Ceilings {
  const ceilings = { ...deployment };
  const ofKey = limitFieldNames.filter((field) => {
    const { limit, factor } = limitFields[field];
    const own = (granted[field] ?? Infinity) * factor;
    if (!(own < ceilings[limit])) return false;
    ceilings[limit] = own;
    return true;
  });
  return { ...ceilings, ofKey };
}

/** One requested value in the unit of `Limits`. */
function checkLimit(
  field: LimitField,
  value: unknown,
  place: { readonly name: string; readonly ceilings: Ceilings },
): number {
  const { minimum, whole, factor } = limitFields[field];
  const ceiling = toField(field, place.ceilings);
  const expected = expectedLimit(field, ceiling);
  if (typeof value !== "number")
    throw invalidField(place.name, expected, typeof value === "string" ? value : typeof value);
  if (value > ceiling) {
    const ofKey = place.ceilings.ofKey?.includes(field) === true;
    const [whose, remedy] = ofKey
      ? ["your API key's", `give you a key with a higher ceiling for ${field}`]
      : ["this deployment's", `raise the ceiling ceilings.${field}`];
    throw new GloveboxError(
      "INVALID_REQUEST",
      `${place.name}: expected ${expected}, got ${value}, which is above ${whose} ceiling of ${ceiling}.`,
      {
        suggestion: `Ask for at most ${ceiling}, or have the operator ${remedy}.`,
        context: { field: place.name, ceiling, requested: Number.isFinite(value) ? value : String(value) },
      },
    );
  }
  if (!(value >= minimum) || (whole && !Number.isInteger(value))) throw invalidField(place.name, expected, value);
  return Math.round(value * factor * 1000) / 1000;
}
