import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withRunnerTables } from "../scripts/runner-table.ts";
import { projectFolder } from "./helpers/project-folder.ts";

it("docs/tests.md has the answers of each runner as the tests ask for them", () => {
  const text = readFileSync(join(projectFolder, "docs", "tests.md"), "utf8");
  expect(text).toContain("**pytest**");
  expect(text, "stale: run node scripts/write-runner-table.ts").toBe(withRunnerTables(text));
});
