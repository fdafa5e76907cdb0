/** Paths in an agent's container (SPEC MO4). */
export const agentPaths = {
  /** What all its folders but its home are in. */
  workspace: "/workspace",
  /** The group's workspace; where the agent starts. */
  group: "/workspace/group",
  /** The project, only for the main group. */
  project: "/workspace/project",
  /** What all groups share, read-only, for every group except the main one. */
  global: "/workspace/global",
  ipc: "/workspace/ipc",
  farmState: "/workspace/farm-state",
  dashboard: "/workspace/dashboard",
  environmentFolder: "/workspace/env-dir",
  /** Assignments for a shell to source; exists in every run. */
  environmentFile: "/workspace/env-dir/env",
  /** The agent's home; empty except for `state`. */
  home: "/home/node",
  /** What the agent keeps between runs of its group. */
  state: "/home/node/.pi",
} as const;

/** Each is a line of its own; the last complete pair counts. */
export const outputMarkers = { start: "---FFT_NANO_OUTPUT_START---", end: "---FFT_NANO_OUTPUT_END---" } as const;
