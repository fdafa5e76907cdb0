import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withClientTable } from "../scripts/client-table.ts";
import { projectFolder } from "./helpers/project-folder.ts";

it("docs/mcp.md has the kinds of clients as their test plays them", () => {
  const text = readFileSync(join(projectFolder, "docs", "mcp.md"), "utf8");
  expect(text).toContain("Claude Code, Codex");
  expect(text, "stale: run node scripts/write-client-table.ts").toBe(withClientTable(text));
});
