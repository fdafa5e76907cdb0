import { Buffer } from "node:buffer";

/** The part of the client's `config.json` that is read; credential helpers (`credsStore`, `credHelpers`) are not. */
interface ClientConfig {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
}

/**
 * Value of the `X-Registry-Auth` header for a registry, from the text of the client's `config.json`; null when it holds
 * no credentials for it. `registry` is a host name with its port, or the address of the default registry.
 */
export function registryAuthHeader(configText: string, registry: string): string | null {
  let config: ClientConfig;
  try {
    config = JSON.parse(configText) as ClientConfig;
  } catch {
    // Another program's broken file is no reason to refuse a public image.
    return null;
  }
  const entries = Object.entries(config.auths ?? {});
  const entry = entries.find(([key]) => key === registry) ?? entries.find(([key]) => hostOf(key) === hostOf(registry));
  if (entry === undefined) return null;
  const [serveraddress, { auth = "", identitytoken = "" }] = entry;
  const [username = "", ...rest] = Buffer.from(auth, "base64").toString("utf8").split(":");
  const password = rest.join(":");
  if (identitytoken === "" && username === "") return null;
  const credentials = identitytoken === "" ? { username, password, serveraddress } : { identitytoken, serveraddress };
  // URL-safe but padded: Docker ignores it without padding.
  return Buffer.from(JSON.stringify(credentials)).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}

function hostOf(key: string): string {
  return key.replace(/^https?:\/\//, "").split("/")[0] ?? "";
}
