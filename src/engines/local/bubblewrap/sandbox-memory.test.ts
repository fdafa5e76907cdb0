import { expect, it } from "vitest";
import { ownMemoryBytes } from "./sandbox-memory.ts";

it("counts what is a process's own, shared memory too, and no mapped files", () => {
  const status =
    "Name:\tRssAnon: 7 kB\nVmRSS:\t   9000 kB\nRssAnon:\t    1000 kB\nRssFile:\t  7976 kB\nRssShmem:\t      24 kB\n";
  expect(ownMemoryBytes(status)).toBe(1024 * 1024);
});

it("is not told of one that has ended", () => {
  expect(ownMemoryBytes("Name:\tsh\nState:\tZ (zombie)\n")).toBeNull();
});
