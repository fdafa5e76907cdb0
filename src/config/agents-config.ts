/** What the configuration says about agents (docs/agents.md). */
export interface AgentsConfig {
  /** Holds the groups' folders; absolute or from `~/`; null: the front end decides. */
  readonly directory: string | null;
  /** The main group's project; null: `directory`. */
  readonly project: string | null;
  readonly mainGroup: string;
  readonly mainWorkspace: string;
  readonly image: string;
  /** Base of the image that Glovebox builds. */
  readonly imageBase: string;
  /** A row of the table of agents. */
  readonly agent: string;
  /** As requests write it. */
  readonly network: string | readonly string[];
  /** Names of this machine's variables, in addition to those of the table. */
  readonly variables: readonly string[];
  readonly memory: {
    /** From 0 to 1. */
    readonly minRelevance: number;
    /** 0: memory is not searched. */
    readonly maxCharacters: number;
  };
  /** How many logs of each group are kept, newest first. */
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
    /** Below `/workspace/extra`; undefined: the last segment of the path. */
    readonly target: string | undefined;
    readonly readOnly: boolean;
  }[];
  readonly network: string | readonly string[] | null;
  readonly agent: { readonly name: string; readonly command?: readonly string[] | undefined } | null;
  /** Principal whose runs it takes; null: everyone's. */
  readonly principals: readonly string[] | null;
}
