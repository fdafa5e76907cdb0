/**
 * Tests that measure what others take (time, processes, the machine's memory), set the clock far ahead, or count what
 * stands on an engine, whoever made it.
 */
export const aloneFiles: readonly string[] = [
  "test/e2e/clock-jump.test.ts",
  "test/e2e/packages-elsewhere.test.ts",
  "test/e2e/session-multitude.test.ts",
  "test/security/resource-attacks.test.ts",
];

/** What takes long and seldom breaks alone: `npm run test:full` runs it. */
export const rareFiles: readonly string[] = [
  "test/e2e/clock-jump.test.ts",
  "test/e2e/library-in-test-runners.test.ts",
  "test/e2e/node-versions.test.ts",
  "test/e2e/packages-elsewhere.test.ts",
];

/** Those that take longest, so that none of them is begun last. */
export const longFiles: readonly string[] = [
  "test/engine-contract/contract.runsc.test.ts",
  "test/engine-contract/contract.docker.test.ts",
  "test/engine-contract/contract.podman.test.ts",
  "test/security/probes.test.ts",
  "test/e2e/cli.test.ts",
];
