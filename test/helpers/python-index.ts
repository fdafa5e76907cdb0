import { execFileSync } from "node:child_process";

/** The Python index that this machine's pip uses, as a test of real packages needs it. */
export interface PythonIndex {
  /** Why it is not available; null if it answers. */
  readonly fault: string | null;
  /** Where its files are, as `host:port`: an index may name any host for them, and only public ones are reachable by default. */
  readonly fileHosts: readonly string[];
}

export function pythonIndex(): PythonIndex {
  const dryRun = ["install", "--dry-run", "--ignore-installed", "--quiet", "--no-deps", "--report", "-", "six"];
  try {
    const answer = execFileSync("python3", ["-m", "pip", ...dryRun], {
      timeout: 60_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { install } = JSON.parse(answer.toString()) as {
      readonly install: readonly { readonly download_info: { readonly url: string } }[];
    };
    const hosts = install.map(({ download_info: { url } }) => new URL(url));
    return {
      fault: null,
      fileHosts: hosts.map(
        ({ hostname, port, protocol }) => `${hostname}:${port || (protocol === "http:" ? 80 : 443)}`,
      ),
    };
  } catch (error) {
    return { fault: `this machine's Python index does not answer (${String(error).slice(0, 80)})`, fileHosts: [] };
  }
}
