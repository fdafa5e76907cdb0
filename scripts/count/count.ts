/**
 * `npm run count [-- ROOT]`: counts what is tested and describes the sources, of this checkout or of another one whose
 * packages are installed, so that two can be compared.
 */
import { resolve } from "node:path";
import { structureOf } from "./structure.ts";
import { countTables, countTests } from "./tests.ts";

const root = resolve(process.argv[2] ?? ".");
const { files, lines, ...found } = structureOf(root);
const rows = {
  ...(await countTables(root)),
  ...countTests(root),
  "source files": files,
  "source lines": lines,
  "functions over 60 lines": found.longFunctions.length,
  "folders over 15 files": found.fullFolders.length,
  "import circles": found.circles.length,
};
for (const [name, count] of Object.entries(rows)) console.log(`| ${name} | ${count} |`);
for (const one of Object.values(found).flat()) console.log(`  ${one}`);
