import { mebibyte } from "../../../base/bytes.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { defaultOpenFiles, type ContainerSpec } from "../../container-spec.ts";
import { option } from "./option.ts";

/** The command refuses to give a virtual machine less memory than this. */
const minMemoryBytes = 200 * mebibyte;
const defaultSharedMemoryBytes = 64 * mebibyte;

/**
 * Limits of a container as options.
 * @throws UNSUPPORTED for a fraction of a CPU and for less memory than a virtual machine needs: neither is silently
 * rounded
 */
export function limitOptions({ limits, sharedMemoryBytes }: ContainerSpec): readonly string[] {
  const { cpus, memoryBytes, pids, openFiles = defaultOpenFiles } = limits;
  if (!Number.isInteger(cpus)) throw wholeCpusOnly(cpus);
  if (memoryBytes < minMemoryBytes) throw tooLittleMemory(memoryBytes);
  const shared = sharedMemoryBytes ?? Math.min(defaultSharedMemoryBytes, Math.floor(memoryBytes / 8));
  return [
    option("cpus", String(cpus)),
    // Whole MiB, rounded down: the limit is never above what was requested.
    option("memory", `${Math.floor(memoryBytes / mebibyte)}m`),
    option("shm-size", `${shared}b`),
    option("ulimit", `nofile=${openFiles}:${openFiles}`),
    option("ulimit", "core=0:0"),
    // There is no limit for a container as a whole: this one is each user's inside.
    option("ulimit", `nproc=${pids}:${pids}`),
  ];
}

function wholeCpusOnly(cpus: number): GloveboxError {
  const next = Math.max(1, Math.ceil(cpus));
  return new GloveboxError("UNSUPPORTED", `Engine apple gives whole CPUs only; ${cpus} were requested.`, {
    suggestion: `Ask for ${next}, or choose an engine that limits parts of a CPU.`,
    context: { engine: "apple", missing: "cpuLimit", cpus },
  });
}

function tooLittleMemory(memoryBytes: number): GloveboxError {
  const asked = Math.floor(memoryBytes / mebibyte);
  return new GloveboxError("UNSUPPORTED", `Engine apple gives at least 200 MB of memory; ${asked} MB were requested.`, {
    suggestion: "Ask for 200 MB or more, or choose an engine whose containers share the host's kernel.",
    context: { engine: "apple", missing: "memoryLimit", memory_mb: asked },
  });
}
