import { parseAddress } from "./ip-address.ts";
import { invalidField } from "../../errors/glovebox-error.ts";

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What makes URL parsers read a whole name as an IPv4 address: decimal, octal or hexadecimal, in one to four parts. */
const number = /^(?:\d+|0x[0-9a-f]*)$/;
const longestName = 253;

/**
 * The one spelling of a DNS name: lower case, labels of letters, digits and hyphens; null for everything else.
 *
 * Everything else is: addresses in any notation, empty labels and so a trailing dot, underscores, NUL, percent signs, and
 * characters beyond ASCII. An internationalised name counts in its ASCII form, `xn--`.
 */
export function canonicalName(text: string): string | null {
  if (text.length === 0 || text.length > longestName) return null;
  const name = lowerAscii(text);
  const labels = name.split(".");
  const isName = labels.every((each) => label.test(each)) && !number.test(labels.at(-1) ?? "");
  return isName ? name : null;
}

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

/** Name and port of a URL; null for one whose host is no name. */
export function hostOf(url: string): HostAndPort | null {
  const parsed = URL.parse(url);
  const name = parsed === null ? null : canonicalName(parsed.hostname);
  if (parsed === null || name === null || !/^https?:$/.test(parsed.protocol)) return null;
  return { name, port: parsed.port === "" ? (parsed.protocol === "https:" ? 443 : 80) : Number(parsed.port) };
}

/** Names that a policy allows. */
export interface DomainPattern {
  /** The name itself, or with `subdomains` the one that they are below; empty with `subdomains`: every name. */
  readonly name: string;
  /** Whether it stands for the names below it, at any depth, and not for itself. */
  readonly subdomains: boolean;
  readonly ports: readonly number[];
}

/** Ports of a pattern that names none: those of http and https. */
export const defaultPorts: readonly number[] = [80, 443];

const expected = "a domain such as example.com, *.example.com or example.com:8443";

/**
 * One entry of a list of domains.
 * @throws INVALID_REQUEST for addresses, names of one label, `*` alone and anything that is no name
 */
export function parseDomainPattern(text: string, field: string): DomainPattern {
  const subdomains = text.startsWith("*.");
  const [host = "", port, ...rest] = text.slice(subdomains ? 2 : 0).split(":");
  const name = canonicalName(host);
  const ports: readonly (number | null)[] = port === undefined ? defaultPorts : [parsePort(port)];
  // A name of one label is the host's own network, or, with a star, a whole top-level domain.
  if (name === null || !name.includes(".") || rest.length > 0 || ports.includes(null)) {
    throw invalidField(field, expected, text);
  }
  return { name, subdomains, ports: ports as readonly number[] };
}

/** Whether the pattern stands for the name, whatever the port. */
export function matchesName({ name, subdomains }: DomainPattern, asked: string): boolean {
  if (!subdomains) return asked === name;
  return name === "" ? asked.includes(".") : asked.endsWith(`.${name}`);
}

/** Whether the pattern allows the name at the port. */
export function matches(pattern: DomainPattern, { name, port }: HostAndPort): boolean {
  return matchesName(pattern, name) && pattern.ports.includes(port);
}

/** Last labels that no public name has: reserved by RFC 6761, 6762, 7686, 8375 and 9476, or never to be given away by ICANN. */
const reserved = new Set([
  ...["localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan"],
  ...["arpa", "invalid", "onion", "alt"],
]);

/** Whether a canonical name is certain not to be public: one of this machine, its network, or of nothing. */
export function isSpecialName(name: string): boolean {
  const labels = name.split(".");
  return labels.length < 2 || reserved.has(labels.at(-1) ?? "");
}

/** `toLowerCase` would turn some letters beyond ASCII into ASCII ones. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function looksLikeAddress(host: string): boolean {
  if (parseAddress(host) !== null || host.includes(":")) return true;
  return /^(?:\d+|0x[0-9a-f]*)$/i.test(host.split(".").findLast((part) => part !== "") ?? "");
}
