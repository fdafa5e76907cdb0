import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRows } from "../measures/row-names.ts";
import type { Measure, Row } from "./report.ts";
import { median, ratio, rounded } from "./statistics.ts";

/** How to show a measure whose work is also done by hand on each engine. */
export const byHandColumns = {
  columns: [
    { key: "medianMs", title: "median ms", digits: 0 },
    { key: "overByHand", title: "x by hand", digits: 2 },
  ],
  plot: { kind: "bars", value: "medianMs", unit: "ms, median" },
} as const satisfies Pick<Measure, "columns" | "plot">;

/** Its rows, by the names of `projectRows`. */
export function rowsByHand(
  timesMs: ReadonlyMap<string, readonly number[]>,
  engines: readonly string[],
): readonly Row[] {
  return [...timesMs].map(([name, times]) => {
    const engine = engines.find((each) => projectRows.glovebox(each) === name);
    const base = timesMs.get(engine === undefined ? name : projectRows.byHand(engine));
    return {
      name,
      isBaseline: engine === undefined,
      values: rounded({ medianMs: median(times), overByHand: base ? ratio(median(times), median(base)) : null }),
    };
  });
}

/** A project of one file, which is removed with the stack. */
export function projectOf(file: string, text: string, stack: AsyncDisposableStack): string {
  const project = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  stack.defer(() => rmSync(project, { recursive: true }));
  writeFileSync(join(project, file), text);
  return project;
}
