import type { ContainerStats } from "../../container-stats.ts";
import { unknownStats } from "../../container-stats.ts";
import { countAt, parseObjects, textAt } from "./json.ts";

/** A container's numbers in an answer of `stats`, which leaves out containers that do not run. @throws AnswerError */
export function parseStats(text: string, id: string): ContainerStats {
  const own = parseObjects(text).find((answer) => textAt(answer, "id") === id);
  if (own === undefined) return unknownStats;
  const microseconds = countAt(own, "cpuUsageUsec");
  return {
    ...unknownStats,
    memoryBytes: countAt(own, "memoryUsageBytes"),
    cpuTimeMs: microseconds === null ? null : microseconds / 1000,
    diskReadBytes: countAt(own, "blockReadBytes"),
    diskWriteBytes: countAt(own, "blockWriteBytes"),
  };
}
