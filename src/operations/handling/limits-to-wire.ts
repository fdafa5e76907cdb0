import { toField } from "../../policy/limit-fields.ts";
import type { Limits } from "../../policy/limits.ts";

/** Limits in the wire's units. */
export function limitsToWire(limits: Limits): {
  cpus: number;
  memory_mb: number;
  timeout_seconds: number;
  pids: number;
  disk_mb: number;
} {
  return {
    cpus: toField("cpus", limits),
    memory_mb: toField("memory_mb", limits),
    timeout_seconds: toField("timeout_seconds", limits),
    pids: toField("pids", limits),
    disk_mb: toField("disk_mb", limits),
  };
}
