/** Writes what each engine guarantees into docs/engines.md, from the contract suite (test/engine-contract). */
import { readFileSync, writeFileSync } from "node:fs";
import { withEngineTable } from "./engine-table/document.ts";

const path = new URL("../docs/engines.md", import.meta.url);
writeFileSync(path, withEngineTable(readFileSync(path, "utf8")));
