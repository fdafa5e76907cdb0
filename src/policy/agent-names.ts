/** Names of the known agents, as used in settings, requests and the image's tag. */
export const agentNames = ["pi", "claude", "codex", "gemini", "opencode"] as const;
export type AgentName = (typeof agentNames)[number];
