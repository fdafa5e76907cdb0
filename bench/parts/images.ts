import type { BenchPlan } from "./report.ts";

/** The images to measure with: the user's choice, else those of the testbed, else the defaults of Glovebox. */
export function benchImages(environment: NodeJS.ProcessEnv): BenchPlan["images"] {
  const chosen = (name: string, ofTestbed: string, otherwise: string): string =>
    environment[`GLOVEBOX_IMAGE_${name}`] ?? environment[`GLOVEBOX_TEST_IMAGE_${ofTestbed}`] ?? otherwise;
  return {
    python: chosen("PYTHON", "PYTHON", "python:3.12-slim"),
    javascript: chosen("JAVASCRIPT", "NODE", "node:24-slim"),
    typescript: chosen("TYPESCRIPT", "NODE", "node:24-slim"),
    session: chosen("SESSION", "BUN", "bun-runner-base"),
  };
}
