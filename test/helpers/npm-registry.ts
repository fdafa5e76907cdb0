import { execFileSync } from "node:child_process";

/** Why the registry that this machine's npm uses is not available; null if it answers. */
export function npmRegistryFault(): string | null {
  try {
    execFileSync("npm", ["view", "is-number", "version"], { stdio: "ignore", timeout: 30_000 });
    return null;
  } catch (error) {
    return `this machine's npm registry does not answer (${String(error).slice(0, 80)})`;
  }
}
