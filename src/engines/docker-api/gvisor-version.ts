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
 * this machine's. Its releases are dates, such as `20260824.0`. None when it cannot be told. `offered`: the runtimes that
 * requests can have.
 */
export async function gvisorComponents(
  answer: Pick<InfoAnswer, "Runtimes" | "DefaultRuntime">,
  offered: readonly string[],
  signal?: AbortSignal,
): Promise<readonly EngineComponent[]> {
  const components = gvisorPrograms(answer, offered).map(async ({ program, ...component }) => {
    const version = await versionOf(program, signal);
    return version === null ? [] : [{ name: "gVisor", version, ...component }];
  });
  return (await Promise.all(components)).flat();
}

interface GvisorProgram {
  readonly program: string;
  /** The runtime's name; left out for the default one, which every run uses. */
  readonly ociRuntime?: string;
}

/** The programs of gVisor behind the runtimes that requests can have, each once. */
export function gvisorPrograms(
  { Runtimes, DefaultRuntime }: Pick<InfoAnswer, "Runtimes" | "DefaultRuntime">,
  offered: readonly string[],
): readonly GvisorProgram[] {
  // One program may have several names: the default one comes first.
  const names = offered.toSorted((a, b) => Number(b === DefaultRuntime) - Number(a === DefaultRuntime));
  const found = new Map<string, GvisorProgram>();
  for (const name of names) {
    const runtime = Runtimes?.[name];
    const program = runtime?.path ?? "";
    if (runtimeKind(name, runtime) !== "gvisor" || program === "" || found.has(program)) continue;
    found.set(program, { program, ...(name === DefaultRuntime ? {} : { ociRuntime: name }) });
  }
  return [...found.values()];
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
