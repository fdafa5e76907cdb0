import { isWithinRange, parseAddressRange, parseAddress, type AddressRange } from "./ip-address.ts";
import { canonicalName, parsePort, type HostAndPort } from "./domain-names.ts";

/** One entry of NO_PROXY: what is reached without the upstream proxy. A port that is null stands for every port. */
type DirectRule =
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

/** The HTTP proxy through which this machine's own connections go out; holds its password. */
export interface UpstreamProxy {
  /** The variable that names it, for messages. */
  readonly variable: string;
  /** Whether it is spoken to over TLS. */
  readonly isSecure: boolean;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Secret: what its field Proxy-Authorization is given; null without a user in the URL. */
  readonly authorization: string | null;
  /** What is reached without it. */
  readonly direct: readonly DirectRule[];
  /** Whether it is handed names that cannot be looked up here. */
  readonly resolvesNames: boolean;
}

/** What is wrong with the variable, in words that do not show its value. */
export interface UpstreamFault {
  readonly variable: string;
  readonly fault: string;
}

/** In the order in which they count. */
const variables = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"] as const;
const usualPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/**
 * The upstream proxy that the environment names: the first of its variables that is not empty, for all connections, so
 * that it is not for a program to choose between two. Null if there is none.
 */
export function readUpstreamProxy(
  environment: Readonly<Record<string, string | undefined>>,
  resolvesNames: boolean,
): UpstreamProxy | UpstreamFault | null {
  const valueOf = (name: string): string => environment[name]?.trim() ?? "";
  const variable = variables.find((name) => valueOf(name) !== "");
  if (variable === undefined) return null;
  const text = valueOf(variable);
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  const usual = url === null ? undefined : usualPorts[url.protocol];
  const fault = "is not of the form http://HOST:PORT, or https:// where the proxy itself speaks TLS";
  if (url === null || usual === undefined || url.port === "0" || url.hostname === "" || !/^\/?$/.test(url.pathname))
    return { variable, fault };
  const authorization = authorizationOf(url);
  if (authorization === undefined) return { variable, fault: "has a user or password with a broken % sequence" };
  return {
    variable,
    isSecure: url.protocol === "https:",
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? usual : Number(url.port),
    authorization,
    direct: parseNoProxy(valueOf("no_proxy") === "" ? valueOf("NO_PROXY") : valueOf("no_proxy")),
    resolvesNames,
  };
}

/** Names of variables whose value holds the user or password of a proxy. */
export function variablesWithPasswords(environment: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    /^(?:https?|all)_proxy$/i.test(name) && value.includes("@") ? [name] : [],
  );
}

/** Undefined for what cannot be decoded. */
function authorizationOf({ username, password }: URL): string | null | undefined {
  if (username === "" && password === "") return null;
  try {
    const decoded = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(decoded).toString("base64")}`;
  } catch {
    return undefined;
  }
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
