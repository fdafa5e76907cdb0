import { defineConfig, type ViteUserConfig } from "vitest/config";

/**
 * Tests that measure what others take (time, processes, the machine's memory), set the clock far ahead, or count what
 * stands on an engine, whoever made it.
 */
const aloneFiles = [
  "test/e2e/clock-jump.test.ts",
  "test/e2e/packages-elsewhere.test.ts",
  "test/e2e/session-multitude.test.ts",
  "test/security/resource-attacks.test.ts",
];

/**
 * One group of tests: groups run one after another, the files of one at as many a time. Tests of engines wait for engines
 * most of their time, so that two files at once keep two cores busy.
 */
const group = (groupOrder: number, maxWorkers: number, timeoutMs: number): object => ({
  sequence: { groupOrder },
  testTimeout: timeoutMs,
  hookTimeout: timeoutMs,
  maxWorkers,
  fileParallelism: maxWorkers > 1,
  // Real engines on a shared machine: one more try in CI, which the report shows.
  retry: process.env["CI"] === "true" ? 1 : 0,
});

const ofEngines = (folder: string, timeoutMs: number): object => ({
  include: [`test/${folder}/**/*.test.ts`],
  exclude: aloneFiles,
  ...group(2, 2, timeoutMs),
});

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ["default", "./scripts/skip-reporter.ts"],
    projects: [
      // Named, because one worker, which two cores would get, would put them last.
      { test: { name: "unit", include: ["src/**/*.test.ts"], sequence: { groupOrder: 0 }, maxWorkers: 2 } },
      { test: { name: "repository", include: ["test/*.test.ts"], ...group(1, 1, 120_000) } },
      { test: { name: "contract", ...ofEngines("engine-contract", 60_000) } },
      { test: { name: "e2e", ...ofEngines("e2e", 120_000) } },
      { test: { name: "security", ...ofEngines("security", 120_000) } },
      { test: { name: "alone", include: aloneFiles, ...group(3, 1, 120_000) } },
    ],
  },
});

export default config;
