import { clientKinds } from "../test/helpers/mcp/client-kinds.ts";
import { replaceMarked } from "./marked-section.ts";

/** The text of docs/mcp.md with the table of the kinds of clients that test/e2e/mcp-clients.test.ts simulates. */
export function withClientTable(text: string): string {
  const rows = clientKinds.map(({ name, examples, picture }) => [name, examples, picture]);
  const lines = [["the model sees", "such as", "a picture comes"], Array<string>(3).fill("---"), ...rows];
  return replaceMarked(text, "client-table", lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n"));
}
