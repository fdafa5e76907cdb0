import { isWithinRange, parseAddressRange, type AddressRange } from "./address-range.ts";
import { canonicalName } from "./domain-name.ts";
import { parsePort, type HostAndPort } from "./host-and-port.ts";
import { parseAddress } from "./ip-address.ts";

/** One entry of NO_PROXY: what is reached without the upstream proxy. A port that is null stands for every port. */
export type DirectRule =
  | { readonly kind: "all" }
  /** The names below it; with `includesItself` the name as well. */
  | {
      readonly kind: "name";
      readonly name: string;
      readonly includesItself: boolean;
      readonly port: number | null;
    }
  /** Names that resolve to an address of the range. */
  | { readonly kind: "range"; readonly range: AddressRange; readonly port: number | null };

/**
 * The entries of NO_PROXY as Go's programs read them, Docker and Podman among them: `example.com` (with the names below
 * it), `.example.com` or `*.example.com` (those below it), an address, a range such as `10.0.0.0/8`, each of names and
 * addresses with `:PORT`, and `*` for everything. What has no such form is left out, so that it lifts nothing.
 */
export function parseNoProxy(text: string): readonly DirectRule[] {
  return text.split(/[\s,]+/).flatMap((entry) => parseEntry(entry) ?? []);
}

/** Whether a target is reached without the upstream proxy; `address`: the one that was checked, null where none is known. */
export function isDirect(rules: readonly DirectRule[], target: HostAndPort, address: string | null): boolean {
  return rules.some((rule) => {
    if (rule.kind === "all") return true;
    if (rule.port !== null && rule.port !== target.port) return false;
    if (rule.kind === "name")
      return target.name.endsWith(`.${rule.name}`) || (rule.includesItself && target.name === rule.name);
    const bytes = address === null ? null : parseAddress(address);
    return bytes !== null && isWithinRange(bytes, rule.range);
  });
}

function parseEntry(entry: string): DirectRule | null {
  if (entry === "*") return { kind: "all" };
  const whole = parseAddressRange(entry);
  if (whole !== null) return { kind: "range", range: whole, port: null };
  const [, bracketed, plain = "", portText] = /^(?:\[([^\]]+)\]|([^:]+))(?::(.*))?$/.exec(entry) ?? [];
  const port = portText === undefined ? null : parsePort(portText);
  if (portText !== undefined && port === null) return null;
  const range = parseAddressRange(bracketed ?? plain);
  if (range !== null) return entry.includes("/") ? null : { kind: "range", range, port };
  const isBelowOnly = /^(?:\*?\.)/.test(plain);
  const name = canonicalName(plain.replace(/^\*?\./, ""));
  return name === null ? null : { kind: "name", name, includesItself: !isBelowOnly, port };
}
