import { networkPort } from "../../egress/sandbox-end.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { runSandboxCommand, type CommandSandbox } from "../../sandbox/sandbox-command.ts";

/** Listening sockets come first; what follows is cut. */
const maxBytes = 128 * 1024;
const readMs = 5_000;

/**
 * TCP ports at which programs of a sandbox listen, without that of its network: lowest first; none where the sandbox
 * does not tell. @throws CANCELLED, SANDBOX_LOST, and what `exec` throws
 */
export async function listeningPorts(sandbox: CommandSandbox, { signal }: CallOptions): Promise<readonly number[]> {
  const command = ["cat", "/proc/net/tcp", "/proc/net/tcp6"];
  const { stdout } = await runSandboxCommand(
    sandbox,
    { command, maxOutputBytes: maxBytes, timeLimitMs: readMs },
    { signal },
  );
  return parseListeningPorts(stdout.text()).filter((port) => port !== networkPort);
}

/** Reads the kernel's table of TCP sockets, in which 0A says that one listens; each port once. */
export function parseListeningPorts(table: string): readonly number[] {
  const rows = table.matchAll(/^ {0,8}\d{1,8}: [0-9A-F]{8,32}:([0-9A-F]{4}) [0-9A-F]{8,32}:[0-9A-F]{4} 0A /gm);
  const ports = new Set([...rows].map(([, port = ""]) => Number.parseInt(port, 16)));
  return [...ports].filter((port) => port > 0).toSorted((one, other) => one - other);
}

/** The ports that a program's output names first come first: `Local: http://localhost:5173/`. */
export function likeliestFirst(ports: readonly number[], output: string): readonly number[] {
  const named = [...output.matchAll(/:(\d{1,5})(?!\d)/g)].map(([, port]) => Number(port));
  const placeOf = (port: number): number => (named.includes(port) ? named.indexOf(port) : named.length);
  return ports.toSorted((one, other) => placeOf(one) - placeOf(other));
}
