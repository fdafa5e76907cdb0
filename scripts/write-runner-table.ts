/** Writes the answers of each test runner into docs/tests.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { withRunnerTables } from "./runner-table.ts";

const path = new URL("../docs/tests.md", import.meta.url);
writeFileSync(path, withRunnerTables(readFileSync(path, "utf8")));
