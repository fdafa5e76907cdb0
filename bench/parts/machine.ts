import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import { promisify } from "node:util";
import type { Machine } from "./report.ts";

const run = promisify(execFile);

/** This machine, without its host name. */
export function machineFacts(): Machine {
  const [first] = os.cpus();
  return {
    system: `${os.type()} ${os.release().replace(/-.*$/, "")}, ${os.arch()}`,
    processor: first?.model.trim() ?? "unknown",
    cores: os.cpus().length,
    memoryGb: Math.round(os.totalmem() / 2 ** 30),
  };
}

/** Versions of Glovebox and of what it is compared with; what is not installed is left out. */
export async function versionFacts(): Promise<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  const commands: Readonly<Record<string, readonly string[]>> = {
    python3: ["python3", "--version"],
    docker: ["docker", "version", "--format", "{{.Server.Version}}"],
    podman: ["podman", "--version"],
    bubblewrap: ["bwrap", "--version"],
  };
  const found = await Promise.all(
    Object.entries(commands).map(async ([name, [file = "", ...argv]]) => {
      const answer = await run(file, argv).catch(() => null);
      const [number] = /\d+(\.\d+)+/.exec(answer?.stdout ?? "") ?? [];
      return number === undefined ? [] : [[name, number] as const];
    }),
  );
  return { glovebox: version, node: process.versions.node, ...Object.fromEntries(found.flat()) };
}
