/** Writes what is generated from `supervisor/frames.json`: the C header, the tables of PROTOCOL.md and the TypeScript module. */
import { readFileSync, writeFileSync } from "node:fs";
import { frameModule } from "./supervisor-frames-module.ts";
import { frameHeader, readFrameTable, withFrameTables } from "./supervisor-frames.ts";

const table = readFrameTable();
const protocol = new URL("../supervisor/PROTOCOL.md", import.meta.url);
writeFileSync(new URL("../supervisor/frames.h", import.meta.url), frameHeader(table));
writeFileSync(protocol, withFrameTables(readFileSync(protocol, "utf8"), table));
writeFileSync(new URL("../src/engines/supervised/frames/frame-table.ts", import.meta.url), frameModule(table));
