import { byHandName, type BenchLanguage } from "../parts/baselines.ts";
import type { Door } from "../parts/doors.ts";
import type { Warmth } from "../parts/warmth.ts";

/** Names of rows that measures and targets share: those of single executions. */
export const rowNames = {
  /** Of the image, or where the engine has none, of this machine. */
  bare: (language: BenchLanguage, engine: string) =>
    `${language}, bare interpreter ${engine === "local" ? "of this machine" : "in the image"}`,
  byHand: (language: BenchLanguage, engine: string) => `${language}, ${byHandName(engine)}`,
  dockerExec: (language: BenchLanguage) => `${language}, docker exec`,
  /** No run at all: what is left of a row over HTTP without Glovebox. */
  emptyServer: "python, an HTTP request to a server that does nothing",
  glovebox: (language: BenchLanguage, engine: string, door: Door, warmth: Warmth) =>
    `${language}, ${engine}, ${door}, ${warmth}`,
} as const;

export const throughputRows = {
  loop: (engine: string) => `${byHandName(engine)}, loop`,
  glovebox: (engine: string, warmth: Warmth) => `${engine}, ${warmth}`,
} as const;

export const startUpRows = {
  byHand: byHandName,
  run: (engine: string) => `glovebox run, ${engine}`,
} as const;

/** Of what is also done by hand on each engine: tests, previews. */
export const projectRows = {
  byHand: byHandName,
  glovebox: (engine: string) => `glovebox, ${engine}`,
} as const;

export const scaleRow = (engine: string, live: number): string => `${engine}, ${live} live`;

export function burstRow(engine: string, size: number, warmth: Warmth): string {
  return `${engine}, ${size} at once, ${warmth}`;
}

export const memoryRows = {
  start: "after the start",
  runs: (count: number) => `after ${count.toLocaleString("en")} runs`,
  live: (engine: string, count: number) => `with ${count} live sandboxes on ${engine}`,
  flood: "during a flood of output, at most",
} as const;

export const sessionRows = {
  waiting: (engine: string) => `${engine}, waiting interpreter`,
  fresh: (engine: string) => `${engine}, fresh interpreter`,
  dockerExec: "docker exec of the program",
  imports: (engine: string) => `${engine}, first line after pandas and matplotlib`,
  command: (engine: string) => `${engine}, command in an environment`,
  dockerExecCommand: "docker exec of the command",
} as const;

export const clusterRows = {
  exec: "exec by hand",
  run: (engine: string, warmth: Warmth) => `${engine}, ${warmth}`,
  call: (engine: string) => `${engine}, call in a session`,
  burst: (engine: string) => `${engine}, burst`,
  burstByHand: "pods that only run the program, by hand, burst",
} as const;
