import * as z from "zod";
import { mebibyte } from "../../base/bytes.ts";
import { maxDurationMs } from "../../base/duration.ts";
import { isolationLevels } from "../../policy/isolation.ts";
import { defaultLimits, withinCeilings } from "../../policy/limits/limits.ts";
import { restartRules } from "../../engines/mend/restart-rule.ts";
import { toolingFilesModes } from "../../policy/tooling/tooling-files.ts";
import { containerRuntimes, executionModes, logLevels, type Config } from "../config.ts";
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
} from "./leaf-schemas.ts";
import { e2bSection, imagesSection, toImages } from "./images-schema.ts";
import { agentsSection, toAgents } from "./agents-schema.ts";
import { previewSection, toPreview } from "./preview-schema.ts";
import { networkSection, toNetwork } from "./network-schema.ts";
import { logsSection, storeSection, toStore } from "./store-schema.ts";
import { toWarmPool, warmPoolSection } from "./warm-pool-schema.ts";
import { secretSources } from "./secrets-schema.ts";
import { agentSection, ceilingsSection, kindSection, toLimits } from "./limit-schemas.ts";

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
