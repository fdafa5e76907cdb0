import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { EngineComponent } from "../engine-setup.ts";
import type { InfoAnswer } from "./engine-capabilities.ts";
import { runtimeKind } from "./oci-runtime.ts";

const answerMs = 2_000;
const answerBytes = 4_096;

/**
 * gVisor as a part with a version, which the engine's API does not tell: asked of the program itself, where the engine is
 * this machine's. Its releases are dates, such as `20260824.0`. None when it cannot be told.
 */
export async function gvisorComponents(
  { Runtimes }: Pick<InfoAnswer, "Runtimes">,
  signal?: AbortSignal,
): Promise<readonly EngineComponent[]> {
  const programs = Object.entries(Runtimes ?? {}).flatMap(([name, runtime]) =>
    runtimeKind(name, runtime) === "gvisor" && runtime.path ? [runtime.path] : [],
  );
  const versions = await Promise.all([...new Set(programs)].map((program) => versionOf(program, signal)));
  return versions.filter((version) => version !== null).map((version) => ({ name: "gVisor", version }));
}

async function versionOf(program: string, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    if (!(await isRootsAlone(program))) return null;
    const limits = { env: {}, timeout: answerMs, maxBuffer: answerBytes, ...(signal === undefined ? {} : { signal }) };
    return parseGvisorVersion((await promisify(execFile)(program, ["--version"], limits)).stdout);
  } catch {
    // Not on this machine, or no answer: then there is no version to show.
    return null;
  }
}

/** `20221219.0` of `runsc version release-20221219.0` and of Debian's `0.0~20221219.0`. */
export function parseGvisorVersion(answer: string): string | null {
  return /^runsc version (?:release-|0\.0~)?(\d{8}\.\d+)/.exec(answer)?.[1] ?? null;
}

/** Whether nobody but root could have put a program there: what an engine names is not run on its word alone. */
async function isRootsAlone(program: string): Promise<boolean> {
  if (!path.isAbsolute(program)) return false;
  for (let place = program; ; place = path.dirname(place)) {
    const { uid, mode } = await stat(place);
    if (uid !== 0 || (mode & 0o022) !== 0) return false;
    if (place === path.dirname(place)) return true;
  }
}
