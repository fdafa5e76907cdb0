import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Groups run one after another: tests that drive engines have the machine to themselves, one file at a time. */
const alone = (groupOrder: number, timeoutMs: number): object => ({
  sequence: { groupOrder },
  testTimeout: timeoutMs,
  hookTimeout: timeoutMs,
  fileParallelism: false,
  // Real engines on a shared machine: one more try in CI, which the report shows.
  retry: process.env["CI"] === "true" ? 1 : 0,
});

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ["default", "./scripts/skip-reporter.ts"],
    projects: [
      { test: { name: "unit", include: ["src/**/*.test.ts"] } },
      { test: { name: "repository", include: ["test/*.test.ts"], ...alone(1, 120_000) } },
      { test: { name: "contract", include: ["test/engine-contract/**/*.test.ts"], ...alone(2, 60_000) } },
      { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], ...alone(3, 120_000) } },
      { test: { name: "security", include: ["test/security/**/*.test.ts"], ...alone(4, 120_000) } },
    ],
  },
});

export default config;
