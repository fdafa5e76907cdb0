import type { Duplex } from "node:stream";
import type { OwnAnswer } from "./own-answer.ts";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect as connectPlain, type Socket } from "node:net";
import type tls from "node:tls";
import { percentDecoded } from "./own-credentials.ts";

/** Where requests of a preview end: its program, or the backend that the operator has named. */
export interface Upstream {
  /** `Host` of what is sent there. */
  readonly host: string;
  /** Whether its own names (`localhost`, addresses of loopback) with its port are that same place. */
  readonly isProgram: boolean;
  /** The answer where none can be made; default: by what it is. */
  readonly unreachable?: OwnAnswer | undefined;
  /** A connection of its own for each exchange. @throws when nothing listens, or it takes too long */
  connect(signal: AbortSignal): Promise<Duplex>;
}

/** The origin by which a browser knows a preview. */
export interface OuterOrigin {
  readonly scheme: "http" | "https";
  /** `Host` of the request. */
  readonly authority: string;
}

/** An origin as browsers send it. */
export function originText({ scheme, authority }: OuterOrigin): string {
  return `${scheme}://${authority}`;
}

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

/** Decodings after which a path that still changes is refused: servers decode once, some twice. */
const maxDecodings = 4;
/** Bytes of an ASCII character in more bytes than it needs, which some decoders take for that character. */
const overlong = /[\xc0\xc1]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]/;

/**
 * Whether some server could read a path under `/api` as one outside of it: parts that lead up (`..`) plain, encoded any number
 * of times or with a parameter behind them (`..;x`), and what servers decode differently or cut a path at.
 */
export function mayLeaveApi(url: string): boolean {
  let [path = ""] = url.split("?", 1);
  if (/[\\#]/.test(path)) return true;
  for (let count = 0; count < maxDecodings; count += 1) {
    if (/%(?![0-9a-f]{2})/i.test(path) && count === 0) return true;
    if (hasUpwardPart(path)) return true;
    const decoded = percentDecoded(path);
    if (decoded === path) return false;
    path = decoded;
  }
  return true;
}

function hasUpwardPart(path: string): boolean {
  if (/[^ -~\x80-\xff]/.test(path) || overlong.test(path)) return true;
  // Wide dots and slashes are plain ones to some.
  const text = Buffer.from(path, "latin1").toString("utf8").normalize("NFKC");
  // Some ignore blanks, and dots at a part's end, so any number of dots may lead up.
  return text.split(/[/\\]/).some((part) => /^\.+$/.test(part.replace(/;.*$/s, "").replaceAll(/\s/g, "")));
}
