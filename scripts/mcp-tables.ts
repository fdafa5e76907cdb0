import { scenarios } from "../test/helpers/conformance/scenarios.ts";
import { clientKinds } from "../test/helpers/mcp/client-kinds.ts";
import { replaceMarked } from "./marked-section.ts";

/** The text of docs/mcp.md with its tables as the tests have them: kinds of clients, and the conformance suite's scenarios. */
export function withMcpTables(text: string): string {
  return replaceMarked(replaceMarked(text, "client-table", clientTable()), "conformance-table", conformanceTable());
}

function clientTable(): string {
  const rows = clientKinds.map(({ name, examples, picture }) => [name, examples, picture]);
  return table(["the model sees", "such as", "a picture comes"], rows);
}

function conformanceTable(): string {
  const own = scenarios.filter(({ notApplicable }) => notApplicable === null).length;
  const sum = `${own} of ${scenarios.length} apply to Glovebox's own tools and pass; with the fixtures all ${scenarios.length} do.`;
  const rows = scenarios.map(({ name, notApplicable }) => [`\`${name}\``, notApplicable ?? "passes", "passes"]);
  return `${sum}\n\n${table(["scenario", "`glovebox mcp`", "with the suite's fixtures"], rows)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
