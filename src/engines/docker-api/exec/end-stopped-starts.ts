import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Name that runc's second stage gives itself. */
const runcStage = /^runc:\[/;
/** What other runtimes run until the program takes their place. */
const runtimeProgram = /\/(?:crun|youki)(?: \(deleted\))?$/;

/**
 * When it is looked, counted from the start: most programs have begun after a tenth of a second, and a runtime's process
 * that was stopped stays so. An engine may call a program started before it is.
 */
const looksMs = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

/**
 * Ends each start of a program in the container that a program there has stopped, from now until the returned function is
 * called: until its program takes its place, the runtime's own process has the program's user and can be signalled. A
 * stopped one would hold up the engine, some for every container; ended, it is a start that failed.
 *
 * Does nothing where the container's processes are not this machine's, or not ours to end.
 */
export function endStoppedStarts(containerId: string): () => void {
  const look = (): void => {
    for (const processId of stoppedStarts(containerId)) {
      try {
        process.kill(processId, "SIGKILL");
      } catch {
        // It has ended meanwhile, or is not ours to end.
      }
    }
  };
  const timers = looksMs.map((afterMs) => setTimeout(look, afterMs).unref());
  return () => timers.forEach(clearTimeout);
}

/** Process ids, here, of runtimes' processes in the container that are stopped. */
function stoppedStarts(containerId: string): readonly number[] {
  return processes()
    .filter((folder) => isStoppedRuntime(folder) && readText(`${folder}/cgroup`).includes(containerId))
    .map((folder) => Number(folder.slice("/proc/".length)));
}

function isStoppedRuntime(folder: string): boolean {
  const stat = readText(`${folder}/stat`);
  const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
  const state = stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  return state === "T" && (runcStage.test(name) || runtimeProgram.test(programOf(folder)));
}

function programOf(folder: string): string {
  try {
    return readlinkSync(`${folder}/exe`);
  } catch {
    return "";
  }
}

/** Folders of this machine's processes; none where there is no such folder. */
function processes(): readonly string[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => `/proc/${name}`);
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
