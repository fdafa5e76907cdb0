import { languageNames } from "../languages/language-table.ts";
import { engineTable } from "../engines/engine-table.ts";
import { limitFieldNames, limitKinds } from "../policy/limits.ts";

/** What one environment variable sets. */
export interface EnvironmentRow {
  /** Key path in the file. */
  readonly key: string;
  /**
   * How its text is parsed: not at all, as a decimal number, as a comma-separated list, as true or false, or as JSON.
   */
  readonly form: "text" | "number" | "list" | "flag" | "json";
  /** If true, its value is never shown. */
  readonly secret?: true;
}

const limitRows = limitKinds.flatMap((kind) =>
  limitFieldNames
    .filter((field) => kind !== "agent" || field !== "timeout_seconds")
    .map((field) => limitRow(`GLOVEBOX_LIMIT_${kind}_${field}`, `limits.${kind}.${field}`)),
);
const ceilingRows = limitFieldNames.map((field) => limitRow(`GLOVEBOX_CEILING_${field}`, `ceilings.${field}`));

const imageRows = languageNames.map(
  (name) => [`GLOVEBOX_IMAGE_${name.toUpperCase()}`, { key: `images.${name}`, form: "text" }] as const,
);

/** Every environment variable that sets a key. */
export const environmentTable: Readonly<Record<string, EnvironmentRow>> = {
  EXECUTION_MODE: { key: "execution_mode", form: "text" },
  CONTAINER_RUNTIME: { key: "container_runtime", form: "text" },
  MAX_CONTAINERS: { key: "max_containers", form: "number" },
  GLOVEBOX_QUEUE_LIMIT: { key: "queue.limit", form: "number" },
  GLOVEBOX_QUEUE_TIMEOUT: { key: "queue.timeout", form: "text" },
  GLOVEBOX_WARM_POOL: { key: "warm_pool.mode", form: "text" },
  GLOVEBOX_WARM_POOL_MIN: { key: "warm_pool.min", form: "number" },
  GLOVEBOX_WARM_POOL_MAX: { key: "warm_pool.max", form: "number" },
  GLOVEBOX_WARM_POOL_IDLE_TIMEOUT: { key: "warm_pool.idle_timeout", form: "text" },
  GLOVEBOX_WARM_POOL_MAX_AGE: { key: "warm_pool.max_age", form: "text" },
  GLOVEBOX_WARM_POOL_MIN_FREE_MB: { key: "warm_pool.min_free_mb", form: "number" },
  CONTAINER_MAX_OUTPUT_SIZE: { key: "max_output_bytes", form: "number" },
  CONTAINER_TIMEOUT: { key: "container_timeout_ms", form: "number" },
  GLOVEBOX_ENVIRONMENT_IDLE_TIMEOUT: { key: "environment_idle_timeout", form: "text" },
  GLOVEBOX_MIN_ISOLATION: { key: "min_isolation", form: "text" },
  ...Object.fromEntries(imageRows),
  GLOVEBOX_IMAGE_SESSION: { key: "images.session", form: "text" },
  GLOVEBOX_IMAGE_SESSION_BASE: { key: "images.session_base", form: "text" },
  GLOVEBOX_IMAGES_ALLOW: { key: "images.allow", form: "list" },
  GLOVEBOX_E2B_TEMPLATES: { key: "e2b.templates", form: "json" },
  GLOVEBOX_PREBUILT_ONLY: { key: "prebuilt_only", form: "flag" },
  GLOVEBOX_BUILD_DOCKERFILES: { key: "build_dockerfiles", form: "flag" },
  GLOVEBOX_ENGINE_RESTART: { key: "engine_restart", form: "text" },
  GLOVEBOX_SESSION_IDLE_TIMEOUT: { key: "session.idle_timeout", form: "text" },
  GLOVEBOX_ENV_ALLOWLIST: { key: "environment_allowlist", form: "list" },
  GLOVEBOX_ALLOW_OPEN_NETWORK: { key: "network.allow_open", form: "flag" },
  GLOVEBOX_NETWORK_PRIVATE_HOSTS: { key: "network.private_hosts", form: "list" },
  GLOVEBOX_NETWORK_DNS_SERVERS: { key: "network.dns_servers", form: "list" },
  GLOVEBOX_NETWORK_HOST_ADDRESSES: { key: "network.host_addresses", form: "list" },
  GLOVEBOX_NETWORK_UPSTREAM_RESOLVES: { key: "network.upstream_resolves", form: "flag" },
  GLOVEBOX_NETWORK_MAX_BYTES: { key: "network.max_bytes", form: "number" },
  // Names only; secret because someone may put a value there by mistake.
  GLOVEBOX_SECRETS: { key: "secrets", form: "list", secret: true },
  GLOVEBOX_PACKAGES_DIR: { key: "packages.directory", form: "text" },
  GLOVEBOX_PACKAGES_MAX_MB: { key: "packages.max_mb", form: "number" },
  GLOVEBOX_PACKAGES_INSTALL_AT_PRELOAD: { key: "packages.install_at_preload", form: "flag" },
  GLOVEBOX_PACKAGES_ALLOW: { key: "packages.allow", form: "list" },
  GLOVEBOX_PACKAGES_DENY: { key: "packages.deny", form: "list" },
  GLOVEBOX_PACKAGES_MIN_AGE: { key: "packages.min_age", form: "text" },
  GLOVEBOX_MOUNT_ALLOWLIST: { key: "mount_allowlist", form: "text" },
  GLOVEBOX_PROJECT_ROOTS: { key: "project_roots", form: "list" },
  GLOVEBOX_TOOLING_FILES: { key: "tooling_files", form: "text" },
  GLOVEBOX_TOOLING_PATHS: { key: "tooling_paths", form: "list" },
  GLOVEBOX_ALLOWED_ORIGINS: { key: "allowed_origins", form: "list" },
  GLOVEBOX_PREVIEW_DOMAIN: { key: "preview.domain", form: "text" },
  GLOVEBOX_PREVIEW_BACKEND: { key: "preview.backend", form: "text" },
  GLOVEBOX_AGENT_DIRECTORY: { key: "agents.directory", form: "text" },
  GLOVEBOX_AGENT_PROJECT: { key: "agents.project", form: "text" },
  GLOVEBOX_AGENT_MAIN_GROUP: { key: "agents.main_group", form: "text" },
  GLOVEBOX_AGENT_MAIN_WORKSPACE: { key: "agents.main_workspace", form: "text" },
  GLOVEBOX_AGENT_IMAGE: { key: "agents.image", form: "text" },
  GLOVEBOX_AGENT_IMAGE_BASE: { key: "agents.image_base", form: "text" },
  GLOVEBOX_AGENT_NAME: { key: "agents.agent", form: "text" },
  GLOVEBOX_AGENT_NETWORK: { key: "agents.network", form: "list" },
  GLOVEBOX_AGENT_VARIABLES: { key: "agents.variables", form: "list" },
  GLOVEBOX_AGENT_MEMORY_MIN_RELEVANCE: { key: "agents.memory.min_relevance", form: "number" },
  GLOVEBOX_AGENT_MEMORY_MAX_CHARACTERS: { key: "agents.memory.max_characters", form: "number" },
  GLOVEBOX_AGENT_MAX_LOGS: { key: "agents.max_logs", form: "number" },
  GLOVEBOX_AGENT_FARM_STATE: { key: "agents.farm_state", form: "text" },
  GLOVEBOX_AGENT_DASHBOARD: { key: "agents.dashboard", form: "text" },
  GLOVEBOX_AGENT_GROUPS: { key: "agents.groups", form: "json" },
  GLOVEBOX_ALLOWED_HOSTS: { key: "allowed_hosts", form: "list" },
  GLOVEBOX_DRAIN_TIMEOUT: { key: "drain_timeout", form: "text" },
  GLOVEBOX_KEYS_FILE: { key: "keys_file", form: "text" },
  GLOVEBOX_STORE: { key: "store.kind", form: "text" },
  GLOVEBOX_STORE_FILE: { key: "store.file", form: "text" },
  // These may contain passwords.
  GLOVEBOX_STORE_URL: { key: "store.url", form: "text", secret: true },
  GLOVEBOX_STORE_MAX_AGE_DAYS: { key: "store.max_age_days", form: "number" },
  GLOVEBOX_STORE_MAX_MB: { key: "store.max_mb", form: "number" },
  GLOVEBOX_REDIS_URL: { key: "logs.redis_url", form: "text", secret: true },
  GLOVEBOX_LOG_LEVEL: { key: "log_level", form: "text" },
  ...Object.fromEntries(limitRows),
  ...Object.fromEntries(ceilingRows),
};

/** Variables of ours that set no key; the first names the file. */
export const otherVariables: readonly string[] = [
  "GLOVEBOX_CONFIG",
  ...engineTable.flatMap(({ variables = [] }) => variables).filter((name) => name.startsWith("GLOVEBOX_")),
];

/** Prefixes of the test suite's variables, which are ignored here. */
export const ignoredPrefixes: readonly string[] = ["GLOVEBOX_TEST_", "GLOVEBOX_TESTBED_"];

/** The right names for ones that people might guess by analogy. */
export const insteadOf: ReadonlyMap<string, string> = new Map([
  ["limits.agent.timeout_seconds", "container_timeout_ms"],
  ["GLOVEBOX_LIMIT_AGENT_TIMEOUT_SECONDS", "CONTAINER_TIMEOUT"],
]);

/** Key paths whose values are never shown. */
export const secretKeys: readonly string[] = Object.values(environmentTable)
  .filter((row) => row.secret === true)
  .map((row) => row.key);

function limitRow(variable: string, key: string): readonly [string, EnvironmentRow] {
  return [variable.toUpperCase(), { key, form: "number" }];
}
