import { canonicalName } from "./domain-name.ts";
import { parseAddress } from "./ip-address.ts";

/** A name and a port, as a program asks for them. */
export interface HostAndPort {
  /** As `canonicalName` writes it. */
  readonly name: string;
  readonly port: number;
}

/** Why text is no `name:port`. */
export type AuthorityFault = "address" | "name" | "port";

/**
 * The name and port in `name:port`; without a port the default one.
 * `address` when the host is an IP address in any notation that some program would take for one.
 */
export function parseAuthority(text: string, defaultPort: number | null): HostAndPort | AuthorityFault {
  if (text.startsWith("[")) return "address";
  const separator = text.lastIndexOf(":");
  const host = separator === -1 ? text : text.slice(0, separator);
  const name = canonicalName(host);
  if (name === null) return looksLikeAddress(host) ? "address" : "name";
  const port = separator === -1 ? defaultPort : parsePort(text.slice(separator + 1));
  return port === null ? "port" : { name, port };
}

/** 1 to 65535 in plain decimal, or null. */
export function parsePort(text: string): number | null {
  if (!/^[1-9]\d{0,4}$/.test(text)) return null;
  const port = Number(text);
  return port <= 65_535 ? port : null;
}

/** `name:port`, as in messages. */
export function formatHostAndPort({ name, port }: HostAndPort): string {
  return `${name}:${port}`;
}

function looksLikeAddress(host: string): boolean {
  if (parseAddress(host) !== null || host.includes(":")) return true;
  return /^(?:\d+|0x[0-9a-f]*)$/i.test(host.split(".").findLast((part) => part !== "") ?? "");
}

/** Name and port of a URL; null for one whose host is no name. */
export function hostOf(url: string): HostAndPort | null {
  const parsed = URL.parse(url);
  const name = parsed === null ? null : canonicalName(parsed.hostname);
  if (parsed === null || name === null || !/^https?:$/.test(parsed.protocol)) return null;
  return { name, port: parsed.port === "" ? (parsed.protocol === "https:" ? 443 : 80) : Number(parsed.port) };
}
