import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";

/** Oldest Node version that must run it. */
const target = "node22";

/**
 * Bundles the agent runner from its sources into one file. Only a checkout has the sources; the published package has
 * the file.
 */
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

/** The agent runner as one file: the published one, or in a checkout one bundled from the sources. */
export function readRunner(): Promise<string> {
  const isCheckout = import.meta.url.endsWith(".ts");
  return isCheckout ? bundleRunner() : readFile(new URL("../../../agent-runner/index.js", import.meta.url), "utf8");
}
