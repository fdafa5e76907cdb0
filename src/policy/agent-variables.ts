import { agentVariables } from "./agent-variable-table.ts";

const tableOf = new Map(agentVariables.map((row) => [row.name, row]));

/** The variables that an agent gets, in the table's order, the deployment's own after those. */
export function agentEnvironment(host: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const known = agentVariables.map(({ name }) => name).filter((name) => (host[name] ?? "") !== "");
  const own = Object.keys(host).filter((name) => !tableOf.has(name) && host[name] !== "");
  const given = Object.fromEntries([...known, ...own].map((name) => [name, host[name] ?? ""]));
  const { PI_BASE_URL: base, OPENAI_BASE_URL: openai } = given;
  return base === undefined || openai !== undefined ? given : { ...given, OPENAI_BASE_URL: base };
}

/** Those of them whose values no log, error or record shows (SPEC EN3). */
export function secretAgentVariables(
  given: Readonly<Record<string, string>>,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const { isPlain = false, isAddress = false } = tableOf.get(name) ?? {};
    if (!isPlain) return [{ name, value }];
    return isAddress ? passwordsOf(value).map((password) => ({ name, value: password })) : [];
  });
}

/** Of an address, as it stands there and as it is sent. */
function passwordsOf(address: string): readonly string[] {
  const password = URL.parse(address)?.password ?? "";
  if (password === "") return [];
  const [, written = password] = /^[^/]*\/\/[^/@:]*:([^/]*)@/.exec(address) ?? [];
  return [...new Set([password, written, decoded(password)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether the variables ask for runs that call no model. */
export function isDryRun({ FFT_NANO_DRY_RUN: value = "" }: Readonly<Record<string, string>>): boolean {
  return !["", "0", "false", "no", "off"].includes(value.trim().toLowerCase());
}

/**
 * `name` or `name:port` of all that those variables make an agent's business: its model's provider, and addresses among
 * the values. With an address of a model's own, no provider is.
 */
export function hostsOfVariables(given: Readonly<Record<string, string>>): readonly string[] {
  const addresses = agentVariables.flatMap(({ name, isAddress }) => {
    const url = isAddress === true && given[name] !== undefined ? URL.parse(given[name]) : null;
    if (url === null) return [];
    const { hostname, port, protocol } = url;
    return [{ name, host: port === "" && protocol === "https:" ? hostname : `${hostname}:${port || 80}` }];
  });
  const hasOwnModel = addresses.some(({ name }) => name !== "HA_URL");
  const providers = agentVariables.flatMap(({ name, hosts = [] }) => (given[name] === undefined ? [] : hosts));
  return [...new Set([...addresses.map(({ host }) => host), ...(hasOwnModel ? [] : providers)])];
}

/** Variables with that provider's key, its own first; none for a provider that is not known. */
export function keyVariablesOf(provider: string): readonly string[] {
  return agentVariables.flatMap(({ name, providers = [] }) => (providers.includes(provider) ? [name] : []));
}
