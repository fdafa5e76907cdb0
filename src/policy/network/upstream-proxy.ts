import { parseNoProxy, type DirectRule } from "./no-proxy.ts";

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
