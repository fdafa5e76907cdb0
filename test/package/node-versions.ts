import { writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "./packed-package.ts";

/** Lines of Node that Glovebox supports (SPEC UI3); `engines` in package.json names the first. */
export const nodeVersions = [22, 24, 26] as const;

/** Installs them in a new folder. Returns why they are not available; null if they are. */
export function installNodes(folder: string): string | null {
  const platform = `${process.platform}-${process.arch}`;
  const specs = nodeVersions.map((version) => `node-${version}@npm:node-${platform}@${version}`);
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true }));
  try {
    run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...specs], folder);
    return null;
  } catch (error) {
    return `Node cannot be installed: ${String(error).slice(0, 300)}`;
  }
}

/** The program of one of them. */
export function nodeIn(folder: string, version: (typeof nodeVersions)[number]): string {
  return path.join(folder, "node_modules", `node-${version}`, "bin", "node");
}
