/** A variable of this machine that agents get when it is set (SPEC EN2). */
export interface AgentVariable {
  readonly name: string;
  /** Shown as it is in logs; every other value is a secret. Default false. */
  readonly isPlain?: boolean;
  /** Its value is an address that agents may reach. Default false. */
  readonly isAddress?: boolean;
  /** Names that the holder of this key has to reach; default none. */
  readonly hosts?: readonly string[];
}

/** Every variable that agents get without any configuration, in the order in which they are written. */
export const agentVariables: readonly AgentVariable[] = [
  { name: "PI_API", isPlain: true },
  { name: "PI_MODEL", isPlain: true },
  { name: "PI_BASE_URL", isPlain: true, isAddress: true },
  { name: "PI_API_KEY" },
  { name: "OPENAI_API_KEY", hosts: ["api.openai.com"] },
  { name: "OPENAI_BASE_URL", isPlain: true, isAddress: true },
  { name: "ANTHROPIC_API_KEY", hosts: ["api.anthropic.com"] },
  { name: "ANTHROPIC_OAUTH_TOKEN", hosts: ["api.anthropic.com"] },
  { name: "ANTHROPIC_BASE_URL", isPlain: true, isAddress: true },
  { name: "GEMINI_API_KEY", hosts: ["generativelanguage.googleapis.com"] },
  { name: "GROQ_API_KEY", hosts: ["api.groq.com"] },
  { name: "CEREBRAS_API_KEY", hosts: ["api.cerebras.ai"] },
  { name: "XAI_API_KEY", hosts: ["api.x.ai"] },
  { name: "OPENROUTER_API_KEY", hosts: ["openrouter.ai"] },
  { name: "AI_GATEWAY_API_KEY", hosts: ["ai-gateway.vercel.sh"] },
  { name: "ZAI_API_KEY", hosts: ["api.z.ai"] },
  { name: "MISTRAL_API_KEY", hosts: ["api.mistral.ai"] },
  { name: "MINIMAX_API_KEY", hosts: ["api.minimax.io"] },
  { name: "MOONSHOT_API_KEY", hosts: ["api.moonshot.ai"] },
  { name: "KIMI_API_KEY", hosts: ["api.kimi.com"] },
  { name: "DEEPSEEK_API_KEY", hosts: ["api.deepseek.com"] },
  { name: "FIREWORKS_API_KEY", hosts: ["api.fireworks.ai"] },
  { name: "HF_TOKEN", hosts: ["router.huggingface.co"] },
  { name: "OPENCODE_API_KEY", hosts: ["opencode.ai"] },
  { name: "HA_URL", isPlain: true, isAddress: true },
  { name: "HA_TOKEN" },
  { name: "FFT_NANO_DRY_RUN", isPlain: true },
];

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
  return Object.entries(given)
    .filter(([name]) => tableOf.get(name)?.isPlain !== true)
    .map(([name, value]) => ({ name, value }));
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
