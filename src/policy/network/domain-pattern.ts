import { invalidField } from "../../errors/glovebox-error.ts";
import { canonicalName } from "./domain-name.ts";
import { parsePort, type HostAndPort } from "./host-and-port.ts";

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
