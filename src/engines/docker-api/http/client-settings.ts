import type { Endpoint, TlsMaterial, SshTarget } from "./endpoint.ts";
import type { Unavailability } from "../../unavailability.ts";
import { access, readFile } from "node:fs/promises";

interface AddressOptions {
  readonly origin: string;
  /** Null: plain, but for `https://`. */
  readonly tls: TlsMaterial | null;
  /** The product, and the variable and usual socket that messages name. */
  readonly title: string;
  readonly variable: string;
  readonly socketPath: string;
  readonly ports: { readonly plain: number; readonly tls: number };
  /** Whether the product's own command carries connections over SSH. */
  readonly overSsh: boolean;
}

/**
 * The endpoint that an address names, or why it cannot be used.
 * Known are `unix://`, `npipe://`, `tcp://`, `http://`, `https://`, `host:port` and, where the product's command carries
 * connections, `ssh://`.
 */
export function parseAddress(address: string, options: AddressOptions): Endpoint | Unavailability {
  const { origin, tls } = options;
  const [, scheme = "tcp", rest = ""] = /^(?:([a-z]+):\/\/)?(.*)$/i.exec(address.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case "unix":
      return rest.startsWith("/") ? { kind: "socket", path: rest, origin } : wrong(options);
    case "npipe":
      return /^[/\\]{2}/.test(rest) ? { kind: "socket", path: rest.replaceAll("\\", "/"), origin } : wrong(options);
    case "tcp":
    case "http":
      return tcpEndpoint(rest, tls, options);
    case "https":
      return tcpEndpoint(rest, tls ?? { verify: true }, options);
    case "ssh":
      return sshEndpoint(rest, options);
    default:
      return wrong(options);
  }
}

const form = /^(?:([^@/]*)@)?(\[[\da-f:.]+\]|[^:/@[\]]*)(?::(\d{1,5}))?(\/.*)?$/i;

/**
 * What users and hosts may be named: neither an option of `ssh`, which begins with `-`, nor anything that a shell would
 * read otherwise than as a word, because `ssh` hands them to the commands of its configuration.
 */
const name = /^\w[\w.+-]*$/;
const address = /^[\da-f:.]+$/i;
/** The other machine's shell reads it. */
const path = /^\/[\w./+@-]+$/;

/** What follows `ssh://`: `[USER@]HOST[:PORT][/PATH/OF/THE/SOCKET]`; null for anything else, a password among it. */
export function parseSshAddress(text: string): SshTarget | null {
  const [, user, bracketed = "", port, tail = "/"] = form.exec(text) ?? [];
  const host = bracketed.replace(/^\[(.*)\]$/, "$1");
  if (!name.test(host) && !(host !== bracketed && address.test(host))) return null;
  if (user !== undefined && !name.test(user)) return null;
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return null;
  if (tail !== "/" && !path.test(tail)) return null;
  return {
    host,
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(tail === "/" ? {} : { socketPath: tail }),
  };
}

/** The files that an engine's own client keeps. */
export interface FileReader {
  /** Text of the file; null when it is missing. */
  read(path: string): Promise<string | null>;
  exists(path: string): Promise<boolean>;
}

/** Those on the disk. */
export const clientFiles: FileReader = {
  read: async (path) => {
    try {
      return await readFile(path, "utf8");
    } catch {
      // Whether a file of another program is missing or unreadable makes no difference: there is no setting.
      return null;
    }
  },
  exists: (path) =>
    access(path).then(
      () => true,
      () => false,
    ),
};

function tcpEndpoint(rest: string, tls: TlsMaterial | null, options: AddressOptions): Endpoint | Unavailability {
  // Under `http:` the parser would drop port 80 as the default.
  const url = URL.parse(`tcp://${rest}`);
  if (url === null || url.hostname === "" || !["", "/"].includes(url.pathname)) return wrong(options);
  const { hostname, port } = url;
  return {
    kind: "tcp",
    // Without the brackets that an IPv6 address has in a URL.
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? options.ports[tls === null ? "plain" : "tls"] : Number(port),
    tls,
    origin: options.origin,
  };
}

function sshEndpoint(rest: string, options: AddressOptions): Endpoint | Unavailability {
  const { origin, variable, socketPath, title } = options;
  if (!options.overSsh) {
    const local = `/tmp/${socketPath.split("/").at(-1)}`;
    return {
      reason: `${origin} names a host over SSH, which is not supported for ${title}.`,
      howToStart: `Forward the socket, for example \`ssh -nNT -L ${local}:${socketPath} HOST\`, and set ${variable}=unix://${local}.`,
    };
  }
  const target = parseSshAddress(rest);
  if (target !== null) return { kind: "ssh", ...target, origin };
  return {
    reason: `${origin} does not name a host over SSH.`,
    howToStart: `Set ${origin} to ssh://HOST or ssh://USER@HOST:PORT, with plain names and no password; what else the connection needs belongs into the configuration of ssh (~/.ssh/config).`,
  };
}

function wrong({ origin, title, socketPath, ports }: AddressOptions): Unavailability {
  return {
    reason: `${origin} does not name an endpoint of ${title}.`,
    howToStart: `Set ${origin} to an address such as unix://${socketPath} or tcp://HOST:${ports.tls}.`,
  };
}
