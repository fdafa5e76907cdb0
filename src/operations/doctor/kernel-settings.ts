import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Settings of this machine's kernel that matter to every engine on it; null if there is no such file. */
export interface KernelSettings {
  /** As in `uname -r`. */
  readonly release: string | null;
  /** What happens when a program crashes: a file name for its dump, or `|` and a program to start. */
  readonly corePattern: string | null;
  /**
   * Vulnerabilities of the processor through which programs can read each other's memory, and which are not mitigated
   * here.
   */
  readonly processorFaults: readonly string[];
}

const processorFolder = "/sys/devices/system/cpu/vulnerabilities";

/** Reads them from /proc and /sys; Linux only. */
export async function readKernelSettings(): Promise<KernelSettings> {
  const [release, corePattern, processorFaults] = await Promise.all([
    setting("/proc/sys/kernel/osrelease"),
    setting("/proc/sys/kernel/core_pattern"),
    readProcessorFaults(),
  ]);
  return { release, corePattern, processorFaults };
}

async function readProcessorFaults(): Promise<readonly string[]> {
  const names = await readdir(processorFolder).catch(() => []);
  const states = await Promise.all(
    names.map(async (name) => [name, await setting(join(processorFolder, name))] as const),
  );
  return unmitigated(states);
}

/** Those that the kernel reports as vulnerable, except the two that only work within one program. */
export function unmitigated(states: readonly (readonly [name: string, state: string | null])[]): readonly string[] {
  const faults = states.filter(([name, state]) => state?.startsWith("Vulnerable") === true && !withinOne.has(name));
  return faults.map(([name]) => name);
}

const withinOne: ReadonlySet<string> = new Set(["spec_store_bypass", "spectre_v1"]);

async function setting(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    // Not Linux, or hidden from this process: unknown.
    return null;
  }
}
