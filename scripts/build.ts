import { rmSync } from "node:fs";
import { runTool } from "./run-tool.ts";

rmSync(new URL("../dist/", import.meta.url), { recursive: true, force: true });
process.exitCode = runTool("tsc", ["-p", "tsconfig.build.json"]);
