/** Writes the kinds of MCP clients into docs/mcp.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { withClientTable } from "./client-table.ts";

const path = new URL("../docs/mcp.md", import.meta.url);
writeFileSync(path, withClientTable(readFileSync(path, "utf8")));
