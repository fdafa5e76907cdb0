import { readFile, stat } from "node:fs/promises";
import type { EngineComponent, EngineSetup } from "../../engine-setup.ts";

const setuidBit = 0o4000;

/** How the embedded engine is set up: it has no API, and this process runs its sandboxes itself. */
export async function bubblewrapSetup(bwrap: string): Promise<EngineSetup> {
  const [{ mode, uid }, kernel] = await Promise.all([stat(bwrap), readFile("/proc/sys/kernel/osrelease", "utf8")]);
  return { kernel: kernel.trim(), inProcess: true, setuid: (mode & setuidBit) !== 0 && uid === 0 };
}

/** `bubblewrap 0.8.0` as a part with a version. */
export function bubblewrapComponents(version: string): readonly EngineComponent[] {
  const [name = "", number] = version.split(" ");
  return number === undefined ? [] : [{ name, version: number }];
}
