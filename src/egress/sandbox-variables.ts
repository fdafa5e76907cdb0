import type { Registry } from "./proxy-messages.ts";
import { certificateFile, networkPort } from "./sandbox-end.ts";
import { registryVariables } from "./registries/registry-variables.ts";

/** Variables by which common programs find the proxy, the certificates and the registries. */
export function sandboxVariables(registries: readonly Registry[]): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${networkPort}`;
  const direct = "localhost,127.0.0.1,::1";
  return {
    ...both({ http_proxy: proxy, https_proxy: proxy, no_proxy: direct }),
    // Node reads the three above only when told to.
    NODE_USE_ENV_PROXY: "1",
    NODE_EXTRA_CA_CERTS: certificateFile,
    SSL_CERT_FILE: certificateFile,
    REQUESTS_CA_BUNDLE: certificateFile,
    CURL_CA_BUNDLE: certificateFile,
    GIT_SSL_CAINFO: certificateFile,
    PIP_CERT: certificateFile,
    // Its answer would come too late to matter, and costs a connection.
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    npm_config_update_notifier: "false",
    ...registryVariables(registries),
  };
}

/** curl reads http_proxy in lower case only, others in upper case only. */
function both(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => [
      [name, value],
      [name.toUpperCase(), value],
    ]),
  );
}
