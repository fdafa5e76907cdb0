import { describe, expect, it } from "vitest";
import {
  defaultCeilings,
  defaultLimits,
  limitKinds,
  withinCeilings,
  limitFieldNames,
  resolveLimits,
  type RequestedLimits,
} from "./limits.ts";

const MB = 1024 * 1024;

function resolve(requested?: unknown, fieldNames = {}): ReturnType<typeof resolveLimits> {
  return resolveLimits({
    kind: "execute",
    defaults: defaultLimits,
    ceilings: defaultCeilings,
    requested: requested as RequestedLimits,
    fieldNames,
  });
}

describe("default limits", () => {
  it.each([
    ["session", 2, 512, 30, 100, 1],
    ["execute", 1, 512, 30, 100, 1],
    ["test", 1, 2048, 300, 512, 1],
    ["preview", 1, 1024, 1800, 512, 1],
    ["environment", 2, 2048, 120, 512, 10],
    ["agent", 2, 2048, 1800, 512, 10],
  ] as const)("of %s are those of SPEC LI1", (kind, cpus, memoryMb, seconds, pids, diskGb) => {
    expect(resolveLimits({ kind, defaults: defaultLimits, ceilings: defaultCeilings })).toEqual({
      cpus,
      memoryBytes: memoryMb * MB,
      timeoutMs: seconds * 1000,
      pids,
      diskBytes: diskGb * 1024 * MB,
    });
  });

  it("have ceilings of 4 CPUs, 8192 MB, 3600 s, 4096 pids and 10 GB, which no default exceeds", () => {
    expect(defaultCeilings).toEqual({
      cpus: 4,
      memoryBytes: 8192 * MB,
      timeoutMs: 3_600_000,
      pids: 4096,
      diskBytes: 10_240 * MB,
    });
    for (const kind of limitKinds)
      expect(withinCeilings(defaultLimits[kind], defaultCeilings)).toEqual(defaultLimits[kind]);
  });

  it("come down to a lower ceiling", () => {
    const ceilings = { ...defaultCeilings, memoryBytes: 64 * MB, timeoutMs: 5000 };
    expect(resolveLimits({ kind: "test", defaults: defaultLimits, ceilings })).toEqual({
      ...defaultLimits.test,
      memoryBytes: 64 * MB,
      timeoutMs: 5000,
    });
  });
});

describe("resolveLimits", () => {
  it("takes what was asked, in the wire's units, and defaults for the rest", () => {
    expect(resolve({ cpus: 0.5, memory_mb: 64, timeout_seconds: 1.5, pids: undefined })).toEqual({
      cpus: 0.5,
      memoryBytes: 64 * MB,
      timeoutMs: 1500,
      pids: 100,
      diskBytes: 1024 * MB,
    });
  });

  it("accepts each ceiling and each minimum exactly", () => {
    expect(resolve({ cpus: 4, memory_mb: 8192, timeout_seconds: 3600, pids: 4096, disk_mb: 10_240 })).toEqual({
      ...defaultCeilings,
      isDiskRequested: true,
    });
    expect(resolve({ cpus: 0.05, memory_mb: 16, timeout_seconds: 0.1, pids: 8, disk_mb: 1 })).toEqual({
      cpus: 0.05,
      memoryBytes: 16 * MB,
      timeoutMs: 100,
      pids: 8,
      diskBytes: MB,
      isDiskRequested: true,
    });
  });

  it.each([
    ["cpus", 4.01, 4],
    ["memory_mb", 8193, 8192],
    ["timeout_seconds", 3600.5, 3600],
    ["pids", 4097, 4096],
    ["disk_mb", 10_241, 10_240],
    ["memory_mb", Number.POSITIVE_INFINITY, 8192],
    ["memory_mb", 1e300, 8192],
  ])("refuses limits.%s = %d above the ceiling, naming the ceiling %d", (field, value, ceiling) => {
    expect(() => resolve({ [field]: value })).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: expect.stringMatching(
          new RegExp(
            `^limits\\.${field}: expected .* got ${String(value).replace("+", "\\+")}, which is above this deployment's ceiling of ${ceiling}\\.$`,
          ),
        ) as string,
        context: expect.objectContaining({ field: `limits.${field}`, ceiling }) as unknown,
      }),
    );
  });

  const bad: readonly unknown[] = [
    0,
    -1,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    "512",
    null,
    true,
    {},
    Object.create(null),
    [],
    10n,
  ];
  it.each(limitFieldNames.flatMap((field) => bad.map((value) => [field, value] as const)))(
    "refuses limits.%s = %o, naming the field and what it may be",
    (field, value) => {
      expect(() => resolve({ [field]: value })).toThrow(
        expect.objectContaining({
          errorType: "INVALID_REQUEST",
          context: { field: `limits.${field}` },
          message: expect.stringMatching(
            new RegExp(`^limits\\.${field}: expected a (whole )?number of .* from [\\d.]+ to \\d+, got `),
          ) as string,
        }),
      );
    },
  );

  it.each([
    ["cpus", 0.04],
    ["memory_mb", 15],
    ["memory_mb", 64.5],
    ["timeout_seconds", 0.09],
    ["pids", 7],
    ["pids", 8.5],
    ["disk_mb", 0.5],
  ])("refuses limits.%s = %d below the minimum or in parts", (field, value) => {
    expect(() => resolve({ [field]: value })).toThrow(
      expect.objectContaining({ context: { field: `limits.${field}` } }),
    );
  });

  it("uses the request's own name for a field outside `limits`", () => {
    expect(() => resolve({ timeout_seconds: 0 }, { timeout_seconds: "timeout_seconds" })).toThrow(
      expect.objectContaining({ context: { field: "timeout_seconds" } }),
    );
  });
});
