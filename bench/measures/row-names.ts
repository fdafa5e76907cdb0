import type { BenchLanguage } from "../parts/baselines.ts";
import type { Door } from "../parts/doors.ts";
import type { Warmth } from "../parts/warmth.ts";

/** Names of rows that measures and targets both know. */
export const rowNames = {
  bare: (language: BenchLanguage) => `${language}, bare interpreter`,
  dockerRun: (language: BenchLanguage) => `${language}, docker run --rm`,
  dockerExec: (language: BenchLanguage) => `${language}, docker exec`,
  glovebox: (language: BenchLanguage, engine: string, door: Door, warmth: Warmth) =>
    `${language}, ${engine}, ${door}, ${warmth}`,
} as const;
