import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Settings of this machine's kernel that matter to every engine on it; null where there is no such file. */
export interface KernelSettings {
  /** As `uname -r` says. */
  readonly release: string | null;
  /** What becomes of a program that crashes: a file's name, or `|` and a program that is started. */
  readonly corePattern: string | null;
  /** Faults of the processor through which programs can read each other's memory, and which nothing here makes up for. */
  readonly processorFaults: readonly string[];
}

const processorFolder = "/sys/devices/system/cpu/vulnerabilities";

/** Reads them from /proc and /sys, which only Linux has. */
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

/** Those that the kernel calls vulnerable, but for the two that work within one program only. */
export function unmitigated(states: readonly (readonly [name: string, state: string | null])[]): readonly string[] {
  const faults = states.filter(([name, state]) => state?.startsWith("Vulnerable") === true && !withinOne.has(name));
  return faults.map(([name]) => name);
}

const withinOne: ReadonlySet<string> = new Set(["spec_store_bypass", "spectre_v1"]);

async function setting(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    // Not Linux, or hidden from this process: then nothing is known of it.
    return null;
  }
}
