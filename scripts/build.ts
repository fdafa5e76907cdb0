import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleConsole, licencesOf } from "../src/http/bundle-console.ts";
import { bundleRunner } from "../src/workloads/agent/agent-files.ts";
import { bundleSources } from "./bundle/bundle-sources.ts";
import { keepPublicTypes } from "./bundle/public-types.ts";
import { runTool } from "./run-tool.ts";

/** What Glovebox starts in separate processes and threads. */
const helpers: readonly string[] = [
  "egress/proxy/proxy-main.ts",
  "packages/scan-main.ts",
  "workloads/session/variables/notebook-main.ts",
  "sandbox/walk-main.ts",
  "workloads/agent/search-main.ts",
  "store/sqlite-main.ts",
  "workloads/tests/report/read-main.ts",
];
/** What users import and start, and those. */
const entries: readonly string[] = ["index.ts", "client.ts", "cli/main.ts", ...helpers];
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
/** Placeholder for the path from a file of the bundle to `dist`, until it is known where the module ended up. */
const toDist = "path-to-dist:";

function write(path: string, text: string): void {
  mkdirSync(dirname(`${dist}${path}`), { recursive: true });
  writeFileSync(`${dist}${path}`, text);
}

rmSync(dist, { recursive: true, force: true });
process.exitCode = runTool("tsc", ["-p", "tsconfig.build.json"]);
keepPublicTypes(dist, ["index.d.ts", "client.d.ts"]);

const { files, inputs } = await bundleSources({
  entries,
  apart: [["client.ts"], helpers],
  urlOf: (source) => `new URL("${toDist}${source.replace(/\.ts$/, ".js")}", import.meta.url).href`,
});
for (const { path, text } of files) {
  const way = posix.relative(posix.dirname(path), "");
  write(path, text.replaceAll(toDist, way === "" ? "./" : `${way}/`));
}
write(
  "LICENCES.txt",
  `What is in these files of other people's packages, and their terms:\n\n${await licencesOf(inputs)}\n`,
);

const { script, style } = await bundleConsole();
write("console/console.js", script);
write("console/console.css", style);
write("agent-runner/index.js", await bundleRunner());
