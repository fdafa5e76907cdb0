import type { Registry } from "./proxy-messages.ts";

/** Variables that lead npm, Bun and pip to the registries, without their passwords. */
export function registryVariables(registries: readonly Registry[]): Readonly<Record<string, string>> {
  return {
    ...npmVariables(registries.find(({ kind }) => kind === "npm")),
    ...pipVariables(registries.filter(({ kind }) => kind === "python")),
  };
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
