/** What the configuration says of agents (docs/agents.md). */
export interface AgentsConfig {
  /** With the folders of groups, absolute or from `~/`; null: the door decides. */
  readonly directory: string | null;
  /** The main group's project; null: `directory`. */
  readonly project: string | null;
  readonly mainGroup: string;
  readonly mainWorkspace: string;
  readonly image: string;
  /** What the image that Glovebox builds is built on. */
  readonly imageBase: string;
  /** A row of the table of agents. */
  readonly agent: string;
  /** As requests write it. */
  readonly network: string | readonly string[];
  /** Names of this machine's variables beside the table's. */
  readonly variables: readonly string[];
  readonly memory: {
    /** From 0 to 1. */
    readonly minRelevance: number;
    /** 0: no memory is looked for. */
    readonly maxCharacters: number;
  };
  /** Newest logs that are kept of each group. */
  readonly maxLogs: number;
  readonly farmState: string | null;
  readonly dashboard: string | null;
  readonly groups: Readonly<Record<string, AgentGroupConfig>>;
}

/** Settings of one group; null: the deployment's. */
export interface AgentGroupConfig {
  readonly timeoutMs: number | null;
  readonly image: string | null;
  readonly additionalMounts: readonly {
    readonly path: string;
    /** Below `/workspace/extra`; undefined: the path's last name. */
    readonly target: string | undefined;
    readonly readOnly: boolean;
  }[];
  readonly network: string | readonly string[] | null;
  readonly agent: { readonly name: string; readonly command?: readonly string[] | undefined } | null;
  /** Whose runs it takes; null: everybody's. */
  readonly principals: readonly string[] | null;
}
