import { availableParallelism } from "node:os";
import type { Reporter, TestModule, TestSpecification } from "vitest/node";

/** How often a line says how far the tests are, where the output is no terminal, in which vitest shows it itself. */
const everyMs = 20_000;

/**
 * Seconds that a file of a project takes, start of its process included, measured on a machine with two cores that does
 * nothing else. Only for the estimate at the start.
 */
const secondsOfFile: Readonly<Record<string, number>> = { unit: 0.4, alone: 20, repository: 25 };
const secondsOfEngineFile = { often: 11, rare: 22 };
/** Files that run beside each other: most wait for engines most of the time. */
const beside = 4;
/** Of less than this share of the work the time of the rest cannot be told: the first files may be the longest. */
const leastShare = 0.1;

/** Says at the start what will run and about how long it takes, and then how far it is. */
export default class ProgressReporter implements Reporter {
  #files = 0;
  #ended = 0;
  #endedMs = 0;
  #startMs = 0;
  #estimateMs = 0;
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const files = new Map<string, number>();
    for (const { project } of specifications) files.set(project.name, (files.get(project.name) ?? 0) + 1);
    this.#files = specifications.length;
    this.#startMs = performance.now();
    this.#estimateMs = estimateMs(files);
    const parts = [...files].map(([name, count]) => `${name} ${count}`).join(", ");
    console.log(`\n${filesOf(this.#files)} of tests (${parts}): ${about(this.#estimateMs)} on an idle machine.`);
    if (process.stdout.isTTY) return;
    this.#timer = setInterval(() => this.#tell(), everyMs);
    this.#timer.unref();
  }

  onTestModuleEnd({ project }: TestModule): void {
    this.#ended += 1;
    this.#endedMs += estimateMs(new Map([[project.name, 1]]));
  }

  onTestRunEnd(_modules: readonly TestModule[]): void {
    clearInterval(this.#timer);
  }

  #tell(): void {
    const passedMs = performance.now() - this.#startMs;
    // The files that are long and those that run alone make later ones slower than the first: never less than estimated.
    const share = this.#endedMs / this.#estimateMs;
    const leftMs = Math.max(this.#estimateMs - passedMs, share < leastShare ? 0 : passedMs * (1 / share - 1));
    console.log(`… ${this.#ended} of ${filesOf(this.#files)} in ${inWords(passedMs)}, ${about(leftMs)} to go`);
  }
}

/** Milliseconds that so many files of each project take. */
export function estimateMs(files: ReadonlyMap<string, number>, cores: number = availableParallelism()): number {
  let seconds = 0;
  for (const [name, count] of files) {
    const [project = "", rare] = name.split("-");
    const each = secondsOfFile[project] ?? secondsOfEngineFile[rare === undefined ? "often" : "rare"];
    seconds += (count * each) / (project === "alone" ? 1 : beside);
  }
  // More than two cores help as far as files wait for a processor and not for an engine.
  return seconds * 1000 * Math.max(0.4, Math.min(1, 2 / cores));
}

function filesOf(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

function about(ms: number): string {
  return ms < 60_000 ? "less than a minute" : `about ${inWords(ms)}`;
}

function inWords(ms: number): string {
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}
