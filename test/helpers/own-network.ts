import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface OwnNetwork {
  /** Addresses of its loopback interface. */
  readonly addresses: readonly string[];
  /** Ranges that it treats as its own although no interface has them. */
  readonly localRanges: readonly string[];
}

const run = promisify(execFile);
const setUp = `
set -e
ip link set lo up
for address in $ADDRESSES; do ip address add "$address" dev lo; done
for range in $RANGES; do ip route add local "$range" dev lo; done
exec "$@"
`;

/**
 * Runs a script with Node in a new network namespace, which has loopback, the given addresses and no way out, and resolves
 * to what it printed, as JSON. Sockets of engines can be reached from there as usual.
 */
export async function runInOwnNetwork(
  script: string,
  parameters: readonly string[],
  { addresses, localRanges }: OwnNetwork,
): Promise<unknown> {
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const { stdout } = await run(
    "unshare",
    [...user, "--net", "sh", "-c", setUp, "sh", process.execPath, script, ...parameters],
    { env: { ...process.env, ADDRESSES: addresses.join(" "), RANGES: localRanges.join(" ") }, timeout: 120_000 },
  );
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
