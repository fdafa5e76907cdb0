import type { Duplex } from "node:stream";
import { cancelled, throwIfCancelled } from "../../../base/abort.ts";
import { assertPort, connectionLost, nothingListens } from "../../port-errors.ts";
import type { SupervisorChannel } from "../channel/channel.ts";
import { errnoName, type LinuxErrno } from "../frames/linux-errno.ts";

/** How long a connection on loopback may take. */
const dialMs = 30_000;

/** With these nobody is at that address, and perhaps somebody at the other. */
const nobodyThere: ReadonlySet<LinuxErrno | null> = new Set<LinuxErrno>([
  "ECONNREFUSED",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "ENETUNREACH",
]);

/** As `Container.connect`; a server on `localhost` may be at either address. */
export async function connectPort(
  channel: SupervisorChannel,
  port: number,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  assertPort(port);
  for (const family of [4, 6] as const) {
    throwIfCancelled(signal);
    const connection = await channel.dial(port, family, dialMs);
    const giveUp = (): void => void connection.destroy();
    signal?.addEventListener("abort", giveUp, { once: true });
    if (signal?.aborted === true) giveUp();
    const dialled = await connection.dialled;
    signal?.removeEventListener("abort", giveUp);
    if (signal?.aborted === true) {
      connection.destroy();
      throw cancelled(signal.reason);
    }
    if (dialled.isOpen) return connection;
    // A sandbox that is lost says by itself how.
    if (dialled.end === null) await channel.ping();
    if (!nobodyThere.has(errnoName(dialled.end?.errno ?? 0))) throw connectionLost(port);
  }
  throw nothingListens(port);
}
