import { createHash } from "node:crypto";
import { readPackagedScript } from "../../base/packaged-script.ts";
import type { TarFile } from "../../base/tar.ts";
import type { AgentName } from "../../policy/known-agents.ts";
import { agentTable } from "./commands/agent-table.ts";
import { fileURLToPath } from "node:url";
import { readFile } from "node:fs/promises";

/** Labels of an image of agents: which agent is in it, with its version, and the digest of what of Glovebox's own is. */
export const agentLabelNames = { agent: "glovebox.agent", files: "glovebox.agent-files" } as const;

/** The labels that an agent's image gets if it is built from these files. */
export function agentLabels(agent: AgentName, files: readonly TarFile[]): Readonly<Record<string, string>> {
  // Each agent has the same version on every Linux.
  const { version } = agentTable[agent].install({ cpu: "x64", libc: "glibc" });
  return { [agentLabelNames.agent]: `${agent}@${version}`, [agentLabelNames.files]: digestOf(files) };
}

/** Files of `images/agent`, by their path in the image's build context. */
const contextFiles: Readonly<Record<string, string>> = {
  Dockerfile: "Dockerfile",
  "app/entrypoint.sh": "entrypoint.sh",
  "app/pi-model.mjs": "pi-model.mjs",
  "app/gemini-settings.json": "gemini-settings.json",
  "app/ripgrep.conf": "ripgrep.conf",
};

/** Glovebox's own part of an agent image: how it is built, and what it contains in addition to the agent. */
export async function readAgentFiles(): Promise<readonly TarFile[]> {
  const files = Object.entries(contextFiles).map(async ([path, name]) => {
    const text = await readPackagedScript(new URL(`../../../images/agent/${name}`, import.meta.url));
    return { path, content: Buffer.from(text) };
  });
  return [...(await Promise.all(files)), { path: "app/dist/index.js", content: Buffer.from(await readRunner()) }];
}

function digestOf(files: readonly TarFile[]): string {
  const hash = createHash("sha256");
  for (const { path, content } of files) hash.update(`${path}\0${content.length}\0`).update(content);
  return hash.digest("hex");
}

/** Oldest Node version that must run it. */
const target = "node22";

/**
 * Bundles the agent runner from its sources into one file. Only a checkout has the sources; the published package has
 * the file.
 */
export async function bundleRunner(): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./runner-main.ts", import.meta.url))],
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
function readRunner(): Promise<string> {
  const isCheckout = import.meta.url.endsWith(".ts");
  return isCheckout ? bundleRunner() : readFile(new URL("../../agent-runner/index.js", import.meta.url), "utf8");
}
