import { scenarios } from "../test/helpers/conformance/scenarios.ts";
import { replaceMarked } from "./marked-section.ts";

/** The text of docs/mcp.md with the table of the conformance suite's scenarios from test/e2e/mcp-conformance.test.ts. */
export function withConformanceTable(text: string): string {
  const own = scenarios.filter(({ notApplicable }) => notApplicable === null).length;
  const rows = scenarios.map(({ name, notApplicable }) => `| \`${name}\` | ${notApplicable ?? "passes"} | passes |`);
  const table = ["| scenario | `glovebox mcp` | with the suite's fixtures |", "| --- | --- | --- |", ...rows].join(
    "\n",
  );
  const sum = `${own} of ${scenarios.length} apply to Glovebox's own tools and pass; with the fixtures all ${scenarios.length} do.`;
  return replaceMarked(text, "conformance-table", `${sum}\n\n${table}`);
}
