import { once } from "node:events";
import { createRequire } from "node:module";
import { connect as connectPlain, type Socket } from "node:net";
import type tls from "node:tls";
import type { Upstream } from "./upstream.ts";

const connectWithinMs = 10_000;

/** Loaded when used, which is rare: it takes longer than everything else that a preview loads. */
const loadTls = (): typeof tls => createRequire(import.meta.url)("node:tls") as typeof tls;

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
      const socket: Socket = isSecure ? loadTls().connect({ ...address, servername: name }) : connectPlain(address);
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
