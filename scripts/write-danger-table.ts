/** Writes the versions that `glovebox doctor` warns about into docs/doctor.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { withDangerTable } from "./danger-table.ts";

const path = new URL("../docs/doctor.md", import.meta.url);
writeFileSync(path, withDangerTable(readFileSync(path, "utf8")));
