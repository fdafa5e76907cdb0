/** Names of the known agents, as used in settings, requests and the image's tag. */
export const agentNames = ["pi", "claude", "codex", "gemini", "opencode"] as const;
export type AgentName = (typeof agentNames)[number];

/** A variable of this machine that agents get when it is set (SPEC EN2). */
interface AgentVariable {
  readonly name: string;
  /** Shown as it is in logs; every other value is a secret. Default false. */
  readonly isPlain?: boolean;
  /** Its value is an address that agents may reach. Default false. */
  readonly isAddress?: boolean;
  /** Names that the holder of this key has to reach; default none. */
  readonly hosts?: readonly string[];
  /** Providers whose key it is, by the names that `PI_API` may have; the first variable of a provider is its own. */
  readonly providers?: readonly string[];
}

const anthropic = { hosts: ["api.anthropic.com"], providers: ["anthropic"] };
const gemini = { hosts: ["generativelanguage.googleapis.com"] };
const plain = { isPlain: true };
const address = { isPlain: true, isAddress: true };

/** Variables of the agents themselves, of providers by their keys, and of what stands beside a key. */
export const agentVariables: readonly AgentVariable[] = [
  { name: "PI_API", ...plain },
  { name: "PI_MODEL", ...plain },
  { name: "PI_BASE_URL", ...address },
  { name: "PI_API_KEY" },
  key("OPENAI_API_KEY", "openai", "api.openai.com"),
  { name: "OPENAI_BASE_URL", ...address },
  { name: "ANTHROPIC_API_KEY", ...anthropic },
  { name: "ANTHROPIC_OAUTH_TOKEN", ...anthropic },
  { name: "ANTHROPIC_AUTH_TOKEN", ...anthropic },
  { name: "ANTHROPIC_BASE_URL", ...address },
  { name: "ANTHROPIC_MODEL", ...plain },
  { name: "CLAUDE_CODE_OAUTH_TOKEN", hosts: anthropic.hosts },
  { name: "CODEX_API_KEY", hosts: ["api.openai.com"] },
  { name: "GEMINI_API_KEY", ...gemini, providers: ["google"] },
  { name: "GOOGLE_API_KEY", ...gemini },
  { name: "GOOGLE_GEMINI_BASE_URL", ...address },
  { name: "GEMINI_MODEL", ...plain },
  key("ANT_LING_API_KEY", "ant-ling", "api.ant-ling.com"),
  key("BASETEN_API_KEY", "baseten", "inference.baseten.co"),
  key("CEREBRAS_API_KEY", "cerebras", "api.cerebras.ai"),
  {
    name: "CLOUDFLARE_API_KEY",
    hosts: ["gateway.ai.cloudflare.com", "api.cloudflare.com"],
    providers: ["cloudflare-ai-gateway", "cloudflare-workers-ai"],
  },
  { name: "CLOUDFLARE_ACCOUNT_ID", ...plain },
  { name: "CLOUDFLARE_GATEWAY_ID", ...plain },
  key("DEEPSEEK_API_KEY", "deepseek", "api.deepseek.com"),
  key("FIREWORKS_API_KEY", "fireworks", "api.fireworks.ai"),
  key("COPILOT_GITHUB_TOKEN", "github-copilot", "api.individual.githubcopilot.com"),
  key("GROQ_API_KEY", "groq", "api.groq.com"),
  key("HF_TOKEN", "huggingface", "router.huggingface.co"),
  key("KIMI_API_KEY", "kimi-coding", "api.kimi.com"),
  key("META_API_KEY", "meta", "api.meta.ai"),
  key("MINIMAX_API_KEY", "minimax", "api.minimax.io"),
  key("MINIMAX_CN_API_KEY", "minimax-cn", "api.minimaxi.com"),
  key("MISTRAL_API_KEY", "mistral", "api.mistral.ai"),
  {
    name: "MOONSHOT_API_KEY",
    hosts: ["api.moonshot.ai", "api.moonshot.cn"],
    providers: ["moonshotai", "moonshotai-cn"],
  },
  key("NVIDIA_API_KEY", "nvidia", "integrate.api.nvidia.com"),
  { name: "OPENCODE_API_KEY", hosts: ["opencode.ai"], providers: ["opencode", "opencode-go"] },
  key("OPENROUTER_API_KEY", "openrouter", "openrouter.ai"),
  key("QWEN_TOKEN_PLAN_API_KEY", "qwen-token-plan", "token-plan.ap-southeast-1.maas.aliyuncs.com"),
  key("QWEN_TOKEN_PLAN_CN_API_KEY", "qwen-token-plan-cn", "token-plan.cn-beijing.maas.aliyuncs.com"),
  key("RADIUS_API_KEY", "radius", "radius.pi.dev"),
  key("TOGETHER_API_KEY", "together", "api.together.ai"),
  key("AI_GATEWAY_API_KEY", "vercel-ai-gateway", "ai-gateway.vercel.sh"),
  key("XAI_API_KEY", "xai", "api.x.ai"),
  key("XIAOMI_API_KEY", "xiaomi", "api.xiaomimimo.com"),
  key("XIAOMI_TOKEN_PLAN_AMS_API_KEY", "xiaomi-token-plan-ams", "token-plan-ams.xiaomimimo.com"),
  key("XIAOMI_TOKEN_PLAN_CN_API_KEY", "xiaomi-token-plan-cn", "token-plan-cn.xiaomimimo.com"),
  key("XIAOMI_TOKEN_PLAN_SGP_API_KEY", "xiaomi-token-plan-sgp", "token-plan-sgp.xiaomimimo.com"),
  key("ZAI_API_KEY", "zai", "api.z.ai"),
  key("ZAI_CODING_CN_API_KEY", "zai-coding-cn", "open.bigmodel.cn"),
  // The hosts of these depend on the account: they are named beside it (`agents.network`).
  { name: "AZURE_OPENAI_API_KEY", providers: ["azure", "azure-openai-responses"] },
  { name: "AZURE_OPENAI_BASE_URL", ...address },
  { name: "AZURE_OPENAI_RESOURCE_NAME", ...plain },
  { name: "AZURE_OPENAI_API_VERSION", ...plain },
  { name: "AZURE_OPENAI_DEPLOYMENT_NAME_MAP", ...plain },
  { name: "AWS_BEARER_TOKEN_BEDROCK", providers: ["amazon-bedrock"] },
  { name: "AWS_REGION", ...plain },
  { name: "GOOGLE_CLOUD_API_KEY", providers: ["google-vertex"] },
  { name: "GOOGLE_CLOUD_PROJECT", ...plain },
  { name: "GOOGLE_CLOUD_LOCATION", ...plain },
  { name: "HA_URL", ...address },
  { name: "HA_TOKEN" },
  { name: "FFT_NANO_DRY_RUN", ...plain },
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
  return Object.entries(given).flatMap(([name, value]) => {
    const { isPlain = false, isAddress = false } = tableOf.get(name) ?? {};
    if (!isPlain) return [{ name, value }];
    return isAddress ? passwordsOf(value).map((password) => ({ name, value: password })) : [];
  });
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

function key(name: string, provider: string, host: string): AgentVariable {
  return { name, hosts: [host], providers: [provider] };
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
