import type { Socket } from "node:net";

const slow = new WeakSet<Socket>();

/** Until the answer is called, the server's time for one request does not end what comes on this connection. */
export function takesItsTime(socket: Socket): () => void {
  slow.add(socket);
  return () => void slow.delete(socket);
}

/** Whether what comes on a connection has bounds of its own. */
export function mayTakeItsTime(socket: Socket): boolean {
  return slow.has(socket);
}
