import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withConformanceTable } from "../scripts/conformance-table.ts";
import { projectFolder } from "./helpers/project-folder.ts";

it("docs/mcp.md has the scenarios of the conformance suite as its test has them", () => {
  const text = readFileSync(join(projectFolder, "docs", "mcp.md"), "utf8");
  expect(text).toContain("| `tools-call-image` |");
  expect(text, "stale: run node scripts/write-conformance-table.ts").toBe(withConformanceTable(text));
});
