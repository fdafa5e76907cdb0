/**
 * `npm run count [-- ROOT]`: counts what is tested and describes the sources, of this checkout or of another one whose
 * packages are installed, so that two can be compared.
 */
import { resolve } from "node:path";
import { structureOf, structureRows } from "./structure.ts";
import { countTables, countTests } from "./tests.ts";

const root = resolve(process.argv[2] ?? ".");
const structure = structureOf(root);
const rows = { ...(await countTables(root)), ...countTests(root), ...structureRows(structure) };
for (const [name, count] of Object.entries(rows)) console.log(`| ${name} | ${count} |`);
for (const one of [...structure.longFunctions, ...structure.circles]) console.log(`  ${one}`);
console.log(`  the longest import chain:\n    ${structure.longestChain.join("\n    ")}`);
