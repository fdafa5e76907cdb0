import { readPackagedScript } from "../../base/packaged-script.ts";

/** What the programs are told of the host, so that they know what to look for. */
export type AttackParameters = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** One attack as a job has it. */
export interface AttackRow {
  readonly id: string;
  readonly code: string;
  /** What it is told in addition to the parameters of all. */
  readonly parameters: AttackParameters;
}

/** What an attack said, by its id: `BLOCKED: why`, `ESCAPED: what`, or neither. */
export type Said = ReadonlyMap<string, string>;

/** Characters of what an attack said. */
const maxSaid = 300;

/** A program of `images/attacks`, without its ending. */
export function readAttackProgram(name: string): Promise<string> {
  return readPackagedScript(new URL(`../../../images/attacks/${name}.py`, import.meta.url));
}

/** A program that runs by itself, with its parameters as JSON in its argument. */
export function soloProgram({ prelude, code }: { readonly prelude: string; readonly code: string }): string {
  return `${prelude}\nparameters = json.loads(sys.argv[1])\n${code}`;
}

/** What the driver reads from its standard input: the attacks, which it runs one after another. */
export function attackJob(prelude: string, attacks: readonly AttackRow[], parameters: AttackParameters): string {
  return JSON.stringify({ prelude, parameters, attacks });
}

/** The result of an attack that ran by itself: what it said, else how it was ended; empty when nothing ended it. */
export function saidAlone(ended: {
  readonly stdout: string;
  readonly outcome: string;
  readonly truncated: boolean;
}): string {
  const { stdout, outcome, truncated } = ended;
  const words = /^(?:ESCAPED|BLOCKED): .*$/m.exec(stdout)?.[0];
  if (words !== undefined) return words.slice(0, maxSaid);
  if (truncated) return "BLOCKED: its output was cut";
  return outcome === "completed" ? "" : `BLOCKED: ${outcome}`;
}

/** What the driver printed, line by line; lines that are no answer are left out. */
export function parseSaid(stdout: string): Said {
  const rows = stdout.split("\n").flatMap((line): (readonly [string, string])[] => {
    const row = parseLine(line);
    return row === null ? [] : [[row.id, row.said.slice(0, maxSaid)]];
  });
  return new Map(rows);
}

function parseLine(line: string): { readonly id: string; readonly said: string } | null {
  try {
    const row: unknown = JSON.parse(line);
    if (typeof row !== "object" || row === null || !("id" in row) || !("said" in row)) return null;
    const { id, said } = row;
    return typeof id === "string" && typeof said === "string" ? { id, said } : null;
  } catch {
    return null;
  }
}

/** Names of the parameters that a program cannot do without. */
export function parametersOf(code: string): readonly string[] {
  return [...new Set([...code.matchAll(/parameters\[["'](\w+)["']\]/g)].map(([, name = ""]) => name))];
}
