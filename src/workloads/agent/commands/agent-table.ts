import { agentNames, type AgentName, type AgentProgram } from "./agent-program.ts";
import { providerKeys, providerPlaces } from "./provider-keys.ts";
import { claude } from "./programs/claude.ts";
import { codex } from "./programs/codex.ts";
import { gemini } from "./programs/gemini.ts";
import { opencode } from "./programs/opencode.ts";
import { pi } from "./programs/pi.ts";

/** The agents that Glovebox knows: one row each. */
export const agentTable: Readonly<Record<AgentName, AgentProgram>> = { pi, claude, codex, gemini, opencode };

/** Whether an agent of that name is known. */
export function isAgentName(name: string): name is AgentName {
  return (agentNames as readonly string[]).includes(name);
}

/** Variables whose values are no secrets. */
const openVariables = [
  ...["PI_API", "PI_MODEL", "PI_BASE_URL", "OPENAI_BASE_URL", "HA_URL", "FFT_NANO_DRY_RUN"],
  ...["ANTHROPIC_MODEL", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "OPENCODE_MODEL"],
  ...providerPlaces,
];

/** Variables of the host that agents get where they are set (SPEC EN2), each with whether its value is a secret. */
export const agentVariables: ReadonlyMap<string, { readonly secret: boolean }> = new Map(
  [
    ...openVariables,
    ...["PI_API_KEY", "HA_TOKEN"],
    ...Object.values(providerKeys).flat(),
    ...Object.values(agentTable).flatMap(({ variables }) => variables),
  ].map((name) => [name, { secret: !openVariables.includes(name) }]),
);
