/** Writes the table of attacks into docs/threat-model.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { attackTable } from "../test/security/attacks/attack-table.ts";
import { replaceMarked } from "./marked-section.ts";

const file = new URL("../docs/threat-model.md", import.meta.url);
writeFileSync(file, replaceMarked(readFileSync(file, "utf8"), "attacks", attackTable()));
