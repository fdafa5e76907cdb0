import type { Duplex } from "node:stream";
import { cancelled, throwIfCancelled } from "../../../base/abort.ts";
import type { OpenedPort } from "../../engine.ts";
import { assertPort, portTaken } from "../../port-errors.ts";
import type { SupervisorChannel } from "../channel/channel.ts";
import { isIP } from "node:net";

/** As `Container.listen`. */
export async function listenPort(
  channel: SupervisorChannel,
  port: number,
  onConnection: (connection: Duplex) => void,
  signal: AbortSignal | undefined,
): Promise<OpenedPort> {
  assertPort(port);
  throwIfCancelled(signal);
  const listener = await channel.listen(port, 4, { kind: "connections", onConnection });
  const start = await listener.started;
  if (signal?.aborted === true) {
    void listener.close();
    throw cancelled(signal.reason);
  }
  if (start.isBound) return listener;
  // A sandbox that is lost says by itself how.
  if (start.end === null) await channel.ping();
  throw portTaken(port);
}

/** Somewhere beyond a sandbox. */
export interface NetworkTarget {
  /** Of IPv4 or IPv6. */
  readonly address: string;
  readonly port: number;
}

/** How long a connection may take; what has not answered by then is not reached. */
const dialMs = 500;

/** Whether the sandbox can connect to it; nothing is said over the connection. @throws SANDBOX_LOST, CAPACITY */
export async function reachAddress(channel: SupervisorChannel, { address, port }: NetworkTarget): Promise<boolean> {
  const family = isIP(address) === 6 ? 6 : 4;
  const connection = await channel.dial(port, family, dialMs, addressBytes(address));
  const dialled = await connection.dialled;
  connection.destroy();
  // A sandbox that is lost says by itself how.
  if (!dialled.isOpen && dialled.end === null) await channel.ping();
  return dialled.isOpen;
}

/** The 4 or 16 bytes of an address. */
export function addressBytes(address: string): Uint8Array {
  if (isIP(address) !== 6) return Uint8Array.from(address.split("."), Number);
  const [start = "", end] = address.split("%")[0]?.split("::") ?? [];
  const groups = (text: string): readonly string[] => (text === "" ? [] : text.split(":"));
  const [first, last] = [groups(start), groups(end ?? "")];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return Uint8Array.from(
    [...first, ...(end === undefined ? [] : zeros), ...last].flatMap((group) => {
      const number = Number.parseInt(group, 16);
      return [number >> 8, number & 255];
    }),
  );
}
