import { expect, it } from "vitest";
import { mebibyte } from "../base/bytes.ts";
import { defaultCeilings, defaultLimits, resolveLimits, grantedCeilings } from "./limits.ts";

const resolve = (granted: object, requested: object): unknown =>
  resolveLimits({
    kind: "execute",
    defaults: defaultLimits,
    ceilings: grantedCeilings(defaultCeilings, granted),
    requested,
  });

it("a key's lower ceilings count, its higher ones do not", () => {
  const ceilings = grantedCeilings(defaultCeilings, { memory_mb: 256, cpus: 100, timeout_seconds: 5 });
  expect(ceilings).toEqual({
    ...defaultCeilings,
    memoryBytes: 256 * mebibyte,
    timeoutMs: 5000,
    ofKey: ["memory_mb", "timeout_seconds"],
  });
});

it("defaults come down to the key's ceilings", () => {
  expect(resolve({ memory_mb: 128, timeout_seconds: 2 }, {})).toMatchObject({
    memoryBytes: 128 * mebibyte,
    timeoutMs: 2000,
    cpus: 1,
  });
});

it("what is above is refused, and it says whose ceiling that is", () => {
  expect(() => resolve({ memory_mb: 128 }, { memory_mb: 129 })).toThrow(
    expect.objectContaining({
      errorType: "INVALID_REQUEST",
      message: expect.stringContaining("above your API key's ceiling of 128"),
      suggestion: expect.stringContaining("a key with a higher ceiling for memory_mb"),
    }),
  );
  expect(() => resolve({ memory_mb: 128 }, { cpus: 5 })).toThrow(/above this deployment's ceiling of 4/);
});
