import type { Measure } from "../parts/report.ts";
import { executeMeasure } from "./execute.ts";

/** All measures, in the order in which they are taken. */
export const measures: readonly Measure[] = [executeMeasure];
