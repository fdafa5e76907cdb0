import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { writeLibraryTypes } from "./library-options/written-types.ts";
import { runTool } from "./run-tool.ts";

const folder = new URL("../src/library/objects/generated/", import.meta.url);
const files = Object.entries(writeLibraryTypes()).map(([name, text]) => {
  const file = fileURLToPath(new URL(name, folder));
  writeFileSync(file, text);
  return file;
});
process.exitCode = runTool("oxfmt", files);
