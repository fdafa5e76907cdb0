/** Writes the scenarios of MCP's conformance suite into docs/mcp.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { withConformanceTable } from "./conformance-table.ts";

const path = new URL("../docs/mcp.md", import.meta.url);
writeFileSync(path, withConformanceTable(readFileSync(path, "utf8")));
