import type { Variables } from "./agent-program.ts";
import { keyVariablesOf } from "../../../policy/known-agents.ts";

/** A model to register with pi; `/app/pi-model.mjs` reads it from `GLOVEBOX_PI_MODEL`. */
interface CustomModel {
  readonly provider: string;
  readonly baseUrl: string;
  readonly api: string;
  /** A reference to a variable: the key itself is never in a file. */
  readonly apiKey: string;
  /** Null: the provider's models known to pi, at another address. */
  readonly model: string | null;
}

/** Which model pi uses, by the variables `PI_API`, `PI_MODEL`, `PI_BASE_URL`, `OPENAI_BASE_URL` and `PI_API_KEY`. */
export interface PiModel {
  readonly flags: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly custom: CustomModel | null;
}

/** APIs that pi can use with any server. */
const apis = new Set(["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"]);
/** The APIs of providers that do not support the first of them. */
const apisOfProviders: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  google: "google-generative-ai",
};

/** `PI_API` names a provider that pi knows, or an API for the server at the base URL. */
export function piModel(variables: Variables): PiModel {
  const read = (name: string): string | null => (variables[name] ?? "") || null;
  const named = read("PI_API");
  const isApi = named !== null && apis.has(named);
  const model = read("PI_MODEL");
  const speaksOpenai = named === null || named === "openai" || named.startsWith("openai-");
  const baseUrl = read("PI_BASE_URL") ?? (speaksOpenai ? read("OPENAI_BASE_URL") : null);
  const provider = isApi ? "custom" : (named ?? (baseUrl === null ? null : "custom"));
  const keyNames = provider === null ? [] : keyVariablesOf(provider);
  const flags = [...flag("--provider", model === null ? null : provider), ...flag("--model", model)];
  if (provider !== null && baseUrl !== null) {
    const keyName = ["PI_API_KEY", ...keyNames, "OPENAI_API_KEY"].find((name) => read(name) !== null);
    const api = isApi ? named : (apisOfProviders[provider] ?? "openai-completions");
    const apiKey = keyName === undefined ? "none" : `$${keyName}`;
    return { flags, variables: {}, custom: { provider, baseUrl, api, apiKey, model } };
  }
  const [keyName] = keyNames;
  const key = read("PI_API_KEY");
  const hasOwnKey = keyName === undefined || key === null || read(keyName) !== null;
  return { flags, variables: hasOwnKey ? {} : { [keyName]: key }, custom: null };
}

function flag(name: string, value: string | null): readonly string[] {
  return value === null ? [] : [name, value];
}
