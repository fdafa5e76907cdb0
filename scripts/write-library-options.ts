import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeOptionTypes } from "./library-options/option-types.ts";
import { runTool } from "./run-tool.ts";

const file = fileURLToPath(new URL("../src/library/objects/options.ts", import.meta.url));
writeFileSync(file, writeOptionTypes());
process.exitCode = runTool("oxfmt", [file]);
