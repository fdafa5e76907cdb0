import type { SecretOffer } from "../policy/secrets.ts";
import type { LanguageName } from "../languages/language-table.ts";
import type { InstallPolicy } from "../policy/install-policy.ts";
import type { RestartRule } from "../engines/engine-surroundings.ts";
import { containerEngines } from "../engines/engine-table.ts";
import type { ToolsImages } from "../engines/tools-image.ts";
import type { HostAndPort } from "../policy/network/domain-names.ts";
import type { UpstreamFault, UpstreamProxy } from "../policy/network/upstream-proxy.ts";
import type { Isolation } from "../policy/isolation.ts";
import type { LimitKind, Limits } from "../policy/limits.ts";
import type { ToolingFilesMode } from "../policy/tooling-files.ts";

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

/** A secret and where its value is read at each use: never the value. */
export interface SecretSource extends SecretOffer {
  readonly from:
    | { readonly kind: "env"; readonly variable: string }
    /** Absolute, or from `~/`. */
    | { readonly kind: "file"; readonly path: string };
}

/** Where `run_code` runs: in a container, or in the embedded sandbox (SPEC RT4). */
export const executionModes = ["container", "preload"] as const;
type ExecutionMode = (typeof executionModes)[number];

/** Which engine is used in container mode; `auto` probes for one (SPEC RT1). */
export const containerRuntimes: readonly string[] = ["auto", ...containerEngines];
type ContainerRuntime = string;

/** Whether sandboxes are started ahead of one-shot runs. */
export const warmPoolModes = ["auto", "on", "off"] as const;

/** Minimum severity of log entries; the names are those of pino. */
export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a template of E2B's clients stands for. */
export interface ConfiguredTemplate {
  readonly name: string;
  readonly image: string;
  /** Whether E2B's SDKs take it by default, so that every key may name it. */
  readonly isUsual: boolean;
  /** Whether an interpreter of each language lives as long as the sandbox. */
  readonly keepsVariables: boolean;
  /** Whether Glovebox builds its image; engines without images have the programs of their machine in its place. */
  readonly isBuilt: boolean;
}

/** The whole configuration, checked and frozen; docs/configuration.md describes each key. */
export interface Config {
  /** null, the default: the embedded sandbox; for `glovebox serve` containers, if an engine answers at its start. */
  readonly executionMode: ExecutionMode | null;
  readonly containerRuntime: ContainerRuntime;
  readonly maxContainers: number;
  readonly queue: {
    /** Requests that may wait; 0 refuses at once. */
    readonly limit: number;
    readonly timeoutMs: number;
  };
  /** Sandboxes that are started ahead of one-shot runs. */
  readonly warmPool: {
    /** `auto`: for servers, also over stdio. */
    readonly mode: (typeof warmPoolModes)[number];
    /** Per kind that has been requested; null: 1 for a server of many, else 0. */
    readonly min: number | null;
    /** In total. */
    readonly max: number;
    /** After this long without a request, a kind goes down to `min`. */
    readonly idleMs: number;
    /** Older ones are replaced. */
    readonly maxAgeMs: number;
    /** None is started while less memory than this is available on this machine. */
    readonly minFreeBytes: number;
  };
  /** Output per stream that a result carries. */
  readonly maxOutputBytes: number;
  readonly environmentIdleMs: number;
  /** Weakest isolation for a run that does not ask for a specific one (SPEC RT5). */
  readonly minIsolation: Isolation;
  /** One-shot runs by language; `session` for `run_code`. */
  readonly images: Readonly<Record<LanguageName | "session", string>>;
  /** Images and registries (`HOST[:PORT]/*`) that API keys may name beside those above. */
  readonly allowedImages: readonly string[];
  /** Base of `bun-runner-base`. */
  readonly sessionBaseImage: string;
  /** Images that Glovebox builds on the session image for clients of others, by their recipes. */
  readonly toolsImages: ToolsImages;
  /** What names of templates stand for, those that E2B's SDKs take by default first. */
  readonly templates: readonly ConfiguredTemplate[];
  readonly session: {
    /** A session ends after this long without a call. */
    readonly idleTimeoutMs: number;
  };
  /** Defaults by kind, none above its ceiling; the agent's time is `CONTAINER_TIMEOUT`. */
  readonly limits: Readonly<Record<LimitKind, Limits>>;
  readonly ceilings: Limits;
  readonly network: {
    /** Whether requests may ask for access to every public name. */
    readonly allowOpen: boolean;
    /** Hosts that may have private addresses, each at its port. */
    readonly privateHosts: readonly HostAndPort[];
    /** Empty: the host's own. */
    readonly dnsServers: readonly string[];
    /** Addresses and ranges at which this machine is reachable, in addition to those of its interfaces. */
    readonly hostAddresses: readonly string[];
    /** Whether names that cannot be resolved here are passed to the upstream proxy. */
    readonly upstreamResolves: boolean;
    /** Bytes that one sandbox may send and receive. */
    readonly maxBytes: number;
  };
  /** If true, no image is pulled or built. */
  readonly prebuiltOnly: boolean;
  /** Whether requests may have their projects' Dockerfiles built. */
  readonly buildDockerfiles: boolean;
  readonly engineRestart: RestartRule;
  readonly packages: {
    /** Of installed packages; absolute or from `~/`. */
    readonly directory: string;
    /** Above it, the least recently used packages are removed. */
    readonly maxBytes: number;
    /** Whether packages are installed on this machine itself if no sandbox is available (SPEC PK2). */
    readonly installAtPreload: boolean;
    /** What may be fetched. */
    readonly policy: InstallPolicy;
  };
  /** The database of runs, logs, metrics and alerts. */
  readonly store: {
    /** `auto`: SQLite for a server, none elsewhere. */
    readonly kind: "auto" | "off" | "sqlite" | "postgres";
    /** Of SQLite, absolute or from `~/`; null: in the state folder. */
    readonly file: string | null;
    /** Of PostgreSQL; may contain a password. */
    readonly url: string | null;
    readonly maxAgeMs: number;
    /** Of log entries. */
    readonly maxBytes: number;
  };
  /** Redis server that log entries are published to; null: none. May contain a password. May hold a password. */
  readonly redisUrl: string | null;
  readonly logLevel: LogLevel;
  /** Names of the host's variables that sandboxes get. */
  readonly environmentAllowlist: readonly string[];
  /** Those of them that are set on the host, with their values, which may be secret. */
  readonly hostEnvironment: Readonly<Record<string, string>>;
  /** What requests may ask for by name; the values are read at each use. */
  readonly secrets: readonly SecretSource[];
  /** Path of the mount allowlist, absolute or from `~/`; null: the user's own, if there is one (docs/mounts.md). */
  readonly mountAllowlist: string | null;
  /** Folders below which requests may name files and projects; null: the front end decides (SPEC MO5). */
  readonly projectRoots: readonly string[] | null;
  /** The least that environments do about files through which a project runs code on its owner's machine. */
  readonly toolingFiles: ToolingFilesMode;
  /** Paths of projects that count as such, in addition to the built-in ones. */
  readonly toolingPaths: readonly string[];
  readonly preview: {
    /** Domain below which previews are reachable beyond loopback; null: none. */
    readonly domain: {
      readonly scheme: "http" | "https";
      readonly name: string;
      /** Null: the scheme's own with `https`, else the server's. */
      readonly port: number | null;
    } | null;
    /** Origin that their requests under `/api` are forwarded to; null: none. */
    readonly backend: string | null;
  };
  readonly agents: AgentsConfig;
  /** Variables of agents that the host has, with their values: most are secrets (SPEC EN2). */
  readonly agentEnvironment: Readonly<Record<string, string>>;
  /** Path of a file with the API keys, which is never written; null: the user's own, which `glovebox keys` writes. */
  readonly keysFile: string | null;
  /** Origins of web pages that may call a server (SPEC API2). */
  readonly allowedOrigins: readonly string[];
  /** Names by which the server is reached beyond loopback, in lower case and without ports. */
  readonly allowedHosts: readonly string[];
  /** How long running work may continue after the server is asked to end. */
  readonly drainTimeoutMs: number;
  /**
   * Key paths that were set explicitly, such as `limits.execute.cpus`: those are demands, whereas a default is only a
   * preference (SPEC RT5).
   */
  readonly explicitSettings: readonly string[];
  /** The proxy of `HTTPS_PROXY` or `HTTP_PROXY`, with its password, or what is wrong with it; null: none is set. */
  readonly upstreamProxy: UpstreamProxy | UpstreamFault | null;
  /** The engines' own variables (`DOCKER_HOST` and the like) as the host has them, not checked. */
  readonly engineEnvironment: Readonly<Record<string, string>>;
}

/** Where a value came from, highest precedence first. */
export type ConfigSource = "flag" | "environment" | "file" | "default";

/** A configuration with what `doctor` reports about it. */
export interface LoadedConfig {
  readonly values: Config;
  /** By key path, such as `limits.execute.memory_mb`. */
  readonly sources: Readonly<Record<string, ConfigSource>>;
  /** The effective value of each key path, in the units of the file; may contain secrets. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Path of the file that was read, null when there was none; for the operator's eyes only. */
  readonly file: string | null;
}
