import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";

/** Oldest Node that runs it. */
const target = "node22";

/** Makes one file of the agent runner from its sources. Only a checkout has those; the published package has the file. */
export async function bundleRunner(): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../runner/runner-main.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "node",
    target,
    legalComments: "none",
    write: false,
    logLevel: "silent",
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("The bundle of the agent runner is empty.");
  return file.text;
}

/** The agent runner as one file: as it was published; in a checkout it is made from the sources. */
export function readRunner(): Promise<string> {
  const isCheckout = import.meta.url.endsWith(".ts");
  return isCheckout ? bundleRunner() : readFile(new URL("../../../agent-runner/index.js", import.meta.url), "utf8");
}
