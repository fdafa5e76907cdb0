import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withMcpTables } from "../scripts/mcp-tables.ts";
import { projectFolder } from "./helpers/project-folder.ts";

it("docs/mcp.md has the kinds of clients and the scenarios of the conformance suite as their tests have them", () => {
  const text = readFileSync(join(projectFolder, "docs", "mcp.md"), "utf8");
  expect(text).toContain("| `tools-call-image` |");
  expect(text).toContain("Claude Code, Codex");
  expect(text, "stale: run node scripts/write-mcp-tables.ts").toBe(withMcpTables(text));
});
