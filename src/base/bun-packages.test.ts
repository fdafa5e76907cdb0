import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bunIntegrity, bunTarget, bunVersion } from "./bun-packages.ts";

it("pins what the lock file pins", () => {
  const lock = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
  };
  expect(lock.packages["node_modules/bun"]?.version).toBe(bunVersion);
  for (const [target, integrity] of Object.entries(bunIntegrity)) {
    expect(lock.packages[`node_modules/@oven/bun-${target}`]).toMatchObject({ version: bunVersion, integrity });
  }
});

it.each([
  ["linux", "x64", "glibc", "linux-x64"],
  ["linux", "arm64", "musl", "linux-aarch64-musl"],
  ["darwin", "arm64", "glibc", "darwin-aarch64"],
  ["win32", "x64", "glibc", "windows-x64"],
  ["aix", "ppc64", "glibc", null],
] as const)("the package for %s on %s with %s is %s", (platform, architecture, libc, target) => {
  expect(bunTarget(platform, architecture, libc)).toBe(target);
});
