import * as z from "zod";
import { mebibyte } from "../base/bytes.ts";
import { maxDurationMs } from "../base/duration.ts";
import { isolationLevels, toolingFilesModes } from "../operations/contract/wire-values.ts";
import {
  defaultLimits,
  withinCeilings,
  defaultCeilings,
  limitKinds,
  limitFields,
  toField,
  type LimitKind,
  type Limits,
  type LimitField,
} from "../policy/limits.ts";
import { restartRules } from "../engines/engine-surroundings.ts";
import { containerRuntimes, executionModes, logLevels, type Config, type SecretSource } from "./config.ts";
import {
  choice,
  duration,
  hostPath,
  hostNames,
  origins,
  packagePatterns,
  relativePath,
  variableNames,
  wholeNumber,
  limitNumber,
  principalList,
} from "./leaf-schemas.ts";
import {
  e2bSection,
  imagesSection,
  toImages,
  previewSection,
  toPreview,
  logsSection,
  storeSection,
  toStore,
  toWarmPool,
  warmPoolSection,
} from "./section-schemas.ts";
import { agentsSection, toAgents } from "./agents-schema.ts";
import { parseAuthority } from "../policy/network/domain-names.ts";
import { parseAddressRange, parseAddress } from "../policy/network/ip-address.ts";
import { environmentName } from "../policy/request/environment-variables.ts";
import { principalWords } from "../policy/principal.ts";

const maxSecrets = 256;
/** The usual form of variable names; anything else may be a value in the wrong place. */
const listedName = /^[A-Z_][A-Z0-9_]{0,63}$/;
const listWords = "a list of names of environment variables, in capitals, such as OPENAI_API_KEY (never a value)";
const entryWords = `{ "env": "VARIABLE" } or { "file": "/path" }, with "principals" (each ${principalWords}) and "kinds" if it is not for all (never a value)`;

const entry = z
  .strictObject({
    env: z.string().regex(environmentName).optional(),
    file: hostPath().optional(),
    principals: principalList().optional(),
    kinds: z.array(z.enum(limitKinds)).optional(),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined));

/** The key `secrets`: names with their sources, or a list of variables that keep their names. */
function secretSources(): z.ZodType<readonly SecretSource[]> {
  return z.unknown().transform((given, context): readonly SecretSource[] => {
    const refuse = (message: string): typeof z.NEVER => {
      // The input is left out, as it may contain a value.
      context.issues.push({ code: "custom", message, input: undefined });
      return z.NEVER;
    };
    if (Array.isArray(given)) {
      const names = z.array(z.string().regex(listedName)).max(maxSecrets).safeParse(given);
      return names.success ? [...new Set(names.data)].map((name) => sourceOf(name, { env: name })) : refuse(listWords);
    }
    if (typeof given !== "object" || given === null) return refuse(`names with their sources, or ${listWords}`);
    const entries = Object.entries(given);
    if (entries.length > maxSecrets) return refuse(`at most ${maxSecrets} secrets`);
    return entries.map(([name, value]) => {
      if (!environmentName.test(name) || name.length > 64) return refuse("names of letters, digits and underscores");
      const parsed = entry.safeParse(value);
      return parsed.success ? sourceOf(name, parsed.data) : refuse(`for ${name} ${entryWords}`);
    });
  }) as z.ZodType<readonly SecretSource[]>;
}

function sourceOf(
  name: string,
  {
    env,
    file = "",
    principals,
    kinds,
  }: {
    readonly env?: string | undefined;
    readonly file?: string | undefined;
    readonly principals?: readonly string[] | undefined;
    readonly kinds?: readonly LimitKind[] | undefined;
  },
): SecretSource {
  const from = env === undefined ? ({ kind: "file", path: file } as const) : ({ kind: "env", variable: env } as const);
  return { name, from, principals: principals ?? null, kinds: kinds ?? null };
}

const maxEntries = 256;
const maxBytes = 1024 * 1024 * mebibyte;

/** The section `network`. */
function networkSection(): z.ZodPrefault<z.ZodObject<NetworkShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        allow_open: z
          .boolean("true or false")
          .default(false)
          .describe("Whether requests may ask for network `open`: every public host."),
        private_hosts: list("hosts with their ports, such as mirror.internal:4873", isHostAndPort)
          .default([])
          .describe(
            "Hosts that may be reached although their addresses are private, each at its port only, if the run's network allows them.",
          ),
        dns_servers: list("addresses of DNS servers, such as 192.0.2.53 or 192.0.2.53:5353", isServer)
          .default([])
          .describe("DNS servers that resolve names for sandboxes; none: the host's own resolver."),
        host_addresses: list("addresses or ranges, such as 203.0.113.7 or 2001:db8::/64", isRange)
          .default([])
          .describe(
            "Addresses of this machine besides those of its own interfaces, such as that of a NAT in front of it; sandboxes may not connect to them.",
          ),
        upstream_resolves: z
          .boolean("true or false")
          .default(false)
          .describe(
            "Whether names that cannot be resolved here are passed to the proxy in `HTTPS_PROXY`, which then decides where they lead: weaker, and not available with network `open`.",
          ),
        max_bytes: wholeNumber("bytes", 1024, maxBytes)
          .default(1024 * mebibyte)
          .describe("Maximum bytes that one sandbox may send and receive over the network."),
      },
      "an object",
    )
    .prefault({});
}

type NetworkShape = {
  allow_open: z.ZodDefault<z.ZodBoolean>;
  private_hosts: z.ZodDefault<z.ZodArray<z.ZodString>>;
  dns_servers: z.ZodDefault<z.ZodArray<z.ZodString>>;
  host_addresses: z.ZodDefault<z.ZodArray<z.ZodString>>;
  upstream_resolves: z.ZodDefault<z.ZodBoolean>;
  max_bytes: z.ZodDefault<z.ZodNumber>;
};

/** The section's values as they are used inside. */
function toNetwork(section: z.output<z.ZodObject<NetworkShape>>): Config["network"] {
  return {
    allowOpen: section.allow_open,
    privateHosts: section.private_hosts.flatMap((text) => {
      const host = parseAuthority(text, null);
      return typeof host === "string" ? [] : [host];
    }),
    dnsServers: section.dns_servers,
    hostAddresses: section.host_addresses,
    upstreamResolves: section.upstream_resolves,
    maxBytes: section.max_bytes,
  };
}

function list(what: string, isValid: (text: string) => boolean): z.ZodArray<z.ZodString> {
  const words = `a list of ${what}`;
  return z.array(z.string(words).refine(isValid, words), words).max(maxEntries, words);
}

function isHostAndPort(text: string): boolean {
  return typeof parseAuthority(text, null) !== "string";
}

function isRange(text: string): boolean {
  return parseAddressRange(text) !== null;
}

/** `address`, or `address:port` with an IPv6 address in brackets. */
function isServer(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+|[0-9a-f:.]+?))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const isPort = port === undefined || (Number(port) > 0 && Number(port) <= 65_535);
  return isPort && (parseAddress(bracketed ?? plain ?? "") !== null || parseAddress(text) !== null);
}

type LimitShape = { [Field in LimitField]: z.ZodDefault<z.ZodNumber> };
type LimitSection<Shape extends z.core.$ZodLooseShape> = z.ZodPrefault<z.ZodObject<Shape, z.core.$strict>>;

/** Limits of one kind; each description ends with what it limits. */
function limitShape(defaults: Limits, whose: string): LimitShape {
  const leaf = (field: LimitField): z.ZodDefault<z.ZodNumber> => {
    const { description } = limitFields[field];
    const words = `${description.slice(0, 1).toUpperCase()}${description.slice(1)}: ${whose}.`;
    return limitNumber(field).default(toField(field, defaults)).describe(words);
  };
  return {
    cpus: leaf("cpus"),
    memory_mb: leaf("memory_mb"),
    timeout_seconds: leaf("timeout_seconds"),
    pids: leaf("pids"),
    disk_mb: leaf("disk_mb"),
  };
}

/** The section `ceilings`. */
function ceilingsSection(): LimitSection<LimitShape> {
  return z.strictObject(limitShape(defaultCeilings, "the most that a request may ask for"), "an object").prefault({});
}

/** The section `limits.<kind>`. */
function kindSection(kind: LimitKind): LimitSection<LimitShape> {
  return z.strictObject(limitShape(defaultLimits[kind], `default of ${kind}`), "an object").prefault({});
}

/** The section `limits.agent`, which has no time: that is `container_timeout_ms`. */
function agentSection(): LimitSection<Omit<LimitShape, "timeout_seconds">> {
  const { timeout_seconds: _, ...shape } = limitShape(defaultLimits.agent, "default of agent");
  return z.strictObject(shape, "an object").prefault({});
}

/** A section's values as limits in the units used inside. */
function toLimits(section: Readonly<Record<LimitField, number>>): Limits {
  return {
    cpus: section.cpus,
    memoryBytes: section.memory_mb * limitFields.memory_mb.factor,
    timeoutMs: Math.round(section.timeout_seconds * limitFields.timeout_seconds.factor),
    pids: section.pids,
    diskBytes: section.disk_mb * limitFields.disk_mb.factor,
  };
}

const section = "an object";
const usualMinAgeMs = 24 * 3_600_000;

const schema = z.strictObject(
  {
    execution_mode: choice(executionModes)
      .nullable()
      .default(null)
      .describe(
        "Where `run_code` runs: `container` in a container, `preload` in the embedded sandbox; unset: in the embedded sandbox, and for `glovebox serve` in a container if an engine answers at its start.",
      ),
    container_runtime: choice(containerRuntimes)
      .default("auto")
      .describe("The container engine; `auto` uses the first that answers."),
    max_containers: wholeNumber("sandboxes", 1, 10_000)
      .default(10)
      .describe("Maximum number of sandboxes at once, including sessions and environments."),
    queue: z
      .strictObject(
        {
          limit: wholeNumber("requests", 0, 100_000)
            .default(100)
            .describe(
              "Maximum number of requests waiting for a sandbox; 0 refuses immediately. Beyond it: `CAPACITY`.",
            ),
          timeout: duration()
            .prefault("30s")
            .describe("Longest time a request waits for a sandbox. Beyond it: `CAPACITY`."),
        },
        section,
      )
      .prefault({}),
    max_output_bytes: wholeNumber("bytes", 1024, 1024 * mebibyte)
      .default(10 * mebibyte)
      .describe("Maximum bytes of stdout and of stderr in a result; beyond it the result says `truncated`."),
    container_timeout_ms: wholeNumber("milliseconds", 100, maxDurationMs)
      .default(defaultLimits.agent.timeoutMs)
      .describe("Time limit of an agent's run in milliseconds, for groups that do not set one."),
    environment_idle_timeout: duration()
      .prefault("1h")
      .describe("How long an environment and its background processes may be idle before it is ended."),
    min_isolation: choice(isolationLevels)
      .default("namespaces")
      .describe(
        "Weakest isolation accepted. Requests may ask for more; only the command line and the library may ask for less. If unset, sessions over stdio use the best the host offers.",
      ),
    images: imagesSection(),
    e2b: e2bSection(),
    prebuilt_only: z
      .boolean("true or false")
      .default(false)
      .describe(
        "Whether to use only images that already exist: none is pulled or built, and a missing one is an error.",
      ),
    build_dockerfiles: z
      .boolean("true or false")
      .default(false)
      .describe(
        "Whether a request may build its project's Dockerfile, in a sandbox, to run its tests or preview in that image.",
      ),
    engine_restart: choice(restartRules)
      .default("idle")
      .describe(
        "When to restart an engine that supports it, after its dead network made an agent's run fail: `never`, `idle` (only when no other sandbox is live) or `always`.",
      ),
    session: z
      .strictObject(
        {
          idle_timeout: duration()
            .prefault("15m")
            .describe("A session ends, files included, after this long without a call."),
        },
        section,
      )
      .prefault({}),
    network: networkSection(),
    warm_pool: warmPoolSection(),
    packages: z
      .strictObject(
        {
          directory: hostPath().default("~/.glovebox/packages").describe("Where installed packages are kept."),
          max_mb: wholeNumber("MB", 0, mebibyte)
            .default(10_240)
            .describe("Maximum MB (MiB) of packages kept; beyond it the least recently used are removed."),
          install_at_preload: z
            .boolean("true or false")
            .default(false)
            .describe(
              "Whether packages for programs at isolation `preload` are installed on this machine itself, without a sandbox and without install scripts.",
            ),
          allow: packagePatterns()
            .default([])
            .describe("Packages that may be installed, such as `lodash`, `@scope/*` or `python:numpy`; none: all."),
          deny: packagePatterns()
            .default([])
            .describe("Packages that may not be installed, not even as dependencies; in the same form as `allow`."),
          min_age: duration()
            .nullable()
            .default(null)
            .describe(
              "Minimum age of a published version before it may be installed; unset: 24 hours, where the package manager and the registry know the age.",
            ),
        },
        section,
      )
      .prefault({}),
    limits: z
      .strictObject(
        {
          session: kindSection("session"),
          execute: kindSection("execute"),
          test: kindSection("test"),
          preview: kindSection("preview"),
          environment: kindSection("environment"),
          agent: agentSection(),
        },
        section,
      )
      .prefault({}),
    ceilings: ceilingsSection(),
    environment_allowlist: variableNames()
      .default([])
      .describe("Names of the host's environment variables that every sandbox gets."),
    secrets: secretSources()
      .prefault({})
      .describe("Secrets that requests may ask for by name, and where their values are read from."),
    mount_allowlist: hostPath()
      .nullable()
      .default(null)
      .describe("Path of the mount allowlist; unset: the user's own, if it exists."),
    project_roots: z
      .array(hostPath(), "a list of paths")
      .max(256, "a list of at most 256 paths")
      .nullable()
      .default(null)
      .describe(
        "Folders in which requests may name files and projects; unset: none for the server, the working directory on the user's own machine.",
      ),
    tooling_files: choice(toolingFilesModes)
      .default("named")
      .describe(
        "Files through which a project runs code on its owner's machine: `named` reports changes to them, `locked` makes those that exist read-only; a request can ask for more, not for less.",
      ),
    tooling_paths: z
      .array(relativePath(), "a list of paths")
      .max(64, "a list of at most 64 paths")
      .default([])
      .describe("Further such files and folders of projects besides the built-in ones, such as `tools/hooks`."),
    allowed_origins: origins()
      .default([])
      .describe("Origins of web pages that may call the server, as browsers send them; others are refused."),
    allowed_hosts: hostNames()
      .default([])
      .describe("Host names of the server beyond loopback, without ports; requests for other names are refused."),
    preview: previewSection(),
    agents: agentsSection(),
    drain_timeout: duration()
      .prefault("30s")
      .describe("How long running work may continue after the server is asked to stop; then it is ended."),
    keys_file: hostPath()
      .nullable()
      .default(null)
      .describe(
        "Path of a file with API keys, which Glovebox only reads; unset: the user's own, which `glovebox keys` writes.",
      ),
    store: storeSection(),
    logs: logsSection(),
    log_level: choice(logLevels).default("warn").describe("Minimum severity of log entries."),
  },
  section,
);

/** The schema of the file; read for its keys, defaults and descriptions. */
export const settingsSchema: z.ZodObject = schema;

/** Parsed once per process: compiling a fast parser would take longer than it saves. */
export const readOnce: { readonly jitless: boolean } = { jitless: true };

/** The part of the configuration that has keys of its own. */
export type ParsedSettings = Omit<
  Config,
  "hostEnvironment" | "agentEnvironment" | "engineEnvironment" | "explicitSettings" | "upstreamProxy"
>;

/**
 * The settings for the given keys, and defaults for the rest, lowered to their ceilings.
 * @throws ZodError for what `settingsSchema` refuses
 */
export function parseSettings(raw: unknown): ParsedSettings {
  const { limits, ceilings: ceilingsGiven, ...keys } = schema.parse(raw, readOnce);
  const ceilings = toLimits(ceilingsGiven);
  const bounded = (given: Parameters<typeof toLimits>[0]): ParsedSettings["ceilings"] =>
    withinCeilings(toLimits(given), ceilings);
  return {
    executionMode: keys.execution_mode,
    containerRuntime: keys.container_runtime,
    maxContainers: keys.max_containers,
    queue: { limit: keys.queue.limit, timeoutMs: keys.queue.timeout },
    warmPool: toWarmPool(keys.warm_pool),
    maxOutputBytes: keys.max_output_bytes,
    environmentIdleMs: keys.environment_idle_timeout,
    minIsolation: keys.min_isolation,
    ...toImages(keys.images, keys.e2b),
    prebuiltOnly: keys.prebuilt_only,
    buildDockerfiles: keys.build_dockerfiles,
    engineRestart: keys.engine_restart,
    session: { idleTimeoutMs: keys.session.idle_timeout },
    limits: {
      session: bounded(limits.session),
      execute: bounded(limits.execute),
      test: bounded(limits.test),
      preview: bounded(limits.preview),
      environment: bounded(limits.environment),
      agent: bounded({ ...limits.agent, timeout_seconds: keys.container_timeout_ms / 1000 }),
    },
    ceilings,
    network: toNetwork(keys.network),
    packages: {
      directory: keys.packages.directory,
      maxBytes: keys.packages.max_mb * mebibyte,
      installAtPreload: keys.packages.install_at_preload,
      policy: {
        allow: keys.packages.allow,
        deny: keys.packages.deny,
        minAgeMs: keys.packages.min_age ?? usualMinAgeMs,
        isMinAgeDemanded: keys.packages.min_age !== null,
      },
    },
    store: toStore(keys.store),
    redisUrl: keys.logs.redis_url,
    logLevel: keys.log_level,
    secrets: keys.secrets,
    mountAllowlist: keys.mount_allowlist,
    projectRoots: keys.project_roots,
    toolingFiles: keys.tooling_files,
    toolingPaths: keys.tooling_paths,
    environmentAllowlist: keys.environment_allowlist,
    allowedOrigins: keys.allowed_origins,
    allowedHosts: keys.allowed_hosts,
    preview: toPreview(keys.preview),
    agents: toAgents(keys.agents),
    drainTimeoutMs: keys.drain_timeout,
    keysFile: keys.keys_file,
  };
}
