import type { Measure } from "../parts/report.ts";
import { burstMeasure } from "./burst.ts";
import { executeMeasure } from "./execute.ts";
import { kubernetesMeasure } from "./kubernetes.ts";
import { logsMeasure } from "./logs.ts";
import { memoryMeasure } from "./memory.ts";
import { previewsMeasure } from "./previews.ts";
import { scaleMeasure } from "./scale.ts";
import { sessionMeasure } from "./session.ts";
import { startUpMeasure } from "./start-up.ts";
import { testsMeasure } from "./tests.ts";
import { throughputMeasure } from "./throughput.ts";

/** All measures, in the order in which they are taken. */
export const measures: readonly Measure[] = [
  executeMeasure,
  sessionMeasure,
  burstMeasure,
  throughputMeasure,
  logsMeasure,
  memoryMeasure,
  startUpMeasure,
  scaleMeasure,
  testsMeasure,
  previewsMeasure,
  kubernetesMeasure,
];
