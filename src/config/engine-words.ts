import { containerEngines, engineTable } from "../engines/engine-table.ts";

const here = engineTable.filter(({ open }) => open !== undefined).map(({ name }) => name);

/** Every engine of this version. */
export const engineNames: readonly string[] = here;

/** The engine that runs programs directly on this machine. */
export const embeddedEngine: string = engineTable.find(({ embedded }) => embedded)?.name ?? "";

/** What `--engine` takes, in words: `auto` and every engine of this version. */
export const engineChoices: string = orList(["auto", ...here]);

/** The same, where only containers are possible. */
export const containerEngineChoices: string = orList([
  "auto",
  ...here.filter((name) => containerEngines.includes(name)),
]);

/** An example of an OCI runtime that an engine accepts in addition to its own. */
export const ociRuntimeExample: string =
  engineTable.find((row) => row.hints?.strongerRuntime)?.hints?.strongerRuntime?.name ?? "";

function orList(names: readonly string[]): string {
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
