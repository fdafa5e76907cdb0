import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bunIntegrity, bunVersion } from "./bun-packages.ts";

it("pins what the lock file pins", () => {
  const lock = JSON.parse(readFileSync(new URL("../../../../package-lock.json", import.meta.url), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
  };
  expect(lock.packages["node_modules/bun"]?.version).toBe(bunVersion);
  for (const [target, integrity] of Object.entries(bunIntegrity)) {
    expect(lock.packages[`node_modules/@oven/bun-linux-${target}`]).toMatchObject({ version: bunVersion, integrity });
  }
});
