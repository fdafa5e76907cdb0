/** Writes the kinds of clients and the scenarios of MCP's conformance suite into docs/mcp.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { withMcpTables } from "./mcp-tables.ts";

const path = new URL("../docs/mcp.md", import.meta.url);
writeFileSync(path, withMcpTables(readFileSync(path, "utf8")));
