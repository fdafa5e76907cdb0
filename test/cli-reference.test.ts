import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withCliReference } from "../scripts/cli-reference/document.ts";

it("docs/cli.md lists the current commands and options: node scripts/write-cli-reference.ts", async () => {
  const page = readFileSync(new URL("../docs/cli.md", import.meta.url), "utf8");
  expect(page).toBe(await withCliReference(page));
});
