/** Writes every command with its arguments and options into docs/cli.md, from the command line's own definitions. */
import { readFileSync, writeFileSync } from "node:fs";
import { withCliReference } from "./cli-reference/document.ts";

const path = new URL("../docs/cli.md", import.meta.url);
writeFileSync(path, await withCliReference(readFileSync(path, "utf8")));
