import { relative } from "node:path";

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly ancestorTitles: readonly string[] }[];
  }[];
}

const shown = 20;

/** The slowest files, each listed once for every lane that runs part of it: what is worth making faster. */
export function slowFiles(text: string, root: string): readonly string[] {
  const files = (JSON.parse(text) as Report).testResults
    .map(({ name, startTime, endTime, assertionResults }) => ({
      name: relative(root, name),
      seconds: Math.round((endTime - startTime) / 1000),
      about: assertionResults[0]?.ancestorTitles[0] ?? "",
    }))
    .filter(({ seconds }) => seconds > 0)
    .toSorted((a, b) => b.seconds - a.seconds);
  const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
  const rows = files.slice(0, shown).map(({ name, seconds, about }) => `${seconds} s  ${name} (${about})`);
  return rows.length === 0 ? [] : [`\n${total} s in all files together; the longest:`, ...rows];
}
