import type { Registry } from "./proxy-messages.ts";
import { certificateFile, forwarderPort } from "./forwarder.ts";

/** Variables by which the usual programs find the proxy, the certificates and the registries. */
export function sandboxVariables(registries: readonly Registry[]): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${forwarderPort}`;
  const direct = "localhost,127.0.0.1,::1";
  return {
    ...both({ http_proxy: proxy, https_proxy: proxy, no_proxy: direct }),
    // Node reads the three above only when it is told to.
    NODE_USE_ENV_PROXY: "1",
    NODE_EXTRA_CA_CERTS: certificateFile,
    SSL_CERT_FILE: certificateFile,
    REQUESTS_CA_BUNDLE: certificateFile,
    CURL_CA_BUNDLE: certificateFile,
    GIT_SSL_CAINFO: certificateFile,
    PIP_CERT: certificateFile,
    // Its answer would come too late to matter and is a connection more.
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    npm_config_update_notifier: "false",
    ...npmVariables(registries.find(({ kind }) => kind === "npm")),
    ...pipVariables(registries.filter(({ kind }) => kind === "python")),
  };
}

/** curl knows http_proxy in lower case only, others in upper case only. */
function both(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => [
      [name, value],
      [name.toUpperCase(), value],
    ]),
  );
}

function npmVariables(registry: Registry | undefined): Record<string, string> {
  const url = registry === undefined ? null : withoutPassword(registry.url);
  return url === null ? {} : { npm_config_registry: url, BUN_CONFIG_REGISTRY: url };
}

function pipVariables(registries: readonly Registry[]): Record<string, string> {
  const [first, ...further] = registries.flatMap(({ url }) => withoutPassword(url) ?? []);
  if (first === undefined) return {};
  const plain = [first, ...further].filter((url) => url.startsWith("http:")).map((url) => new URL(url).hostname);
  return {
    PIP_INDEX_URL: first,
    ...(further.length === 0 ? {} : { PIP_EXTRA_INDEX_URL: further.join(" ") }),
    ...(plain.length === 0 ? {} : { PIP_TRUSTED_HOST: plain.join(" ") }),
  };
}

/** A registry's password is the operator's, not the program's (SPEC EN3). */
function withoutPassword(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return null;
  url.username = "";
  url.password = "";
  return url.href;
}
