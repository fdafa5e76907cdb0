import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withDangerTable } from "../scripts/danger-table.ts";
import { projectFolder } from "./helpers/project-folder.ts";

it("docs/doctor.md lists the faults that doctor knows", () => {
  const text = readFileSync(join(projectFolder, "docs", "doctor.md"), "utf8");
  expect(text).toContain("CVE-2024-21626");
  expect(text, "stale: run node scripts/write-danger-table.ts").toBe(withDangerTable(text));
});
