import { once } from "node:events";
import { connect as connectPlain, type Socket } from "node:net";
import type { Upstream } from "./upstream.ts";

const connectWithinMs = 10_000;

/** What the operator has named for requests under `/api`; it gets them with the page's own `Origin`. */
export function backendUpstream(origin: string): Upstream {
  const { protocol, hostname, port, host } = new URL(origin);
  const isSecure = protocol === "https:";
  const name = hostname.replaceAll(/^\[|\]$/g, "");
  const address = { host: name, port: Number(port) || (isSecure ? 443 : 80) };
  return {
    host,
    isProgram: false,
    connect: async (signal) => {
      // TLS is loaded on use, by few: it takes longer than the rest of this module's imports together.
      const socket: Socket = isSecure
        ? process.getBuiltinModule("node:tls").connect({ ...address, servername: name })
        : connectPlain(address);
      const soon = AbortSignal.any([signal, AbortSignal.timeout(connectWithinMs)]);
      try {
        await once(socket, isSecure ? "secureConnect" : "connect", { signal: soon });
        return socket;
      } catch (error) {
        socket.destroy();
        throw error;
      }
    },
  };
}

/** Whether a path is the backend's. */
export function isBackendPath(url: string): boolean {
  return /^\/api(?:[/?]|$)/.test(url);
}

/** Whether a path has parts that lead up, plain or encoded: they could lead out of `/api`. */
export function leadsUp(url: string): boolean {
  const [path = ""] = url.split("?", 1);
  return path.split(/[/\\]|%2f|%5c/i).some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
}
