import type { Duplex } from "node:stream";
import { cancelled, throwIfCancelled } from "../../../base/abort.ts";
import type { OpenedPort } from "../../engine.ts";
import { assertPort, portTaken } from "../../port-errors.ts";
import type { SupervisorChannel } from "../channel/channel.ts";

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
