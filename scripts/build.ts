import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { bundleConsole } from "../src/http/console/bundle-console.ts";
import { runTool } from "./run-tool.ts";

const dist = new URL("../dist/", import.meta.url);
rmSync(dist, { recursive: true, force: true });
process.exitCode = runTool("tsc", ["-p", "tsconfig.build.json"]);

const { script, style } = await bundleConsole();
mkdirSync(new URL("console/", dist), { recursive: true });
writeFileSync(new URL("console/console.js", dist), script);
writeFileSync(new URL("console/console.css", dist), style);
