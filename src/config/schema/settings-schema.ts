import * as z from "zod";
import { mebibyte } from "../../base/bytes.ts";
import { maxDurationMs } from "../../base/duration.ts";
import { isolationLevels } from "../../policy/isolation.ts";
import { defaultLimits, withinCeilings } from "../../policy/limits/limits.ts";
import { restartRules } from "../../engines/mend/restart-rule.ts";
import { toolingFilesModes } from "../../policy/tooling/tooling-files.ts";
import { defaultSessionImage } from "../../policy/session-profile.ts";
import { containerRuntimes, defaultExecutionMode, executionModes, logLevels, type Config } from "../config.ts";
import {
  choice,
  duration,
  hostPath,
  imageReference,
  hostNames,
  origins,
  packagePatterns,
  relativePath,
  variableNames,
  wholeNumber,
} from "./leaf-schemas.ts";
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
      .default(defaultExecutionMode)
      .describe("Where `run_code` runs: `container` in a container, `preload` in the embedded sandbox."),
    container_runtime: choice(containerRuntimes)
      .default("auto")
      .describe("The container engine; `auto` takes the first that answers."),
    max_containers: wholeNumber("sandboxes", 1, 10_000)
      .default(10)
      .describe("Most sandboxes at once, sessions and environments included."),
    queue: z
      .strictObject(
        {
          limit: wholeNumber("requests", 0, 100_000)
            .default(100)
            .describe("Most requests that wait for a sandbox; 0 refuses at once. Beyond it: `CAPACITY`."),
          timeout: duration().prefault("30s").describe("Longest wait for a sandbox. Beyond it: `CAPACITY`."),
        },
        section,
      )
      .prefault({}),
    max_output_bytes: wholeNumber("bytes", 1024, 1024 * mebibyte)
      .default(10 * mebibyte)
      .describe("Most bytes of stdout and of stderr that a result carries; beyond it the result says `truncated`."),
    container_timeout_ms: wholeNumber("milliseconds", 100, maxDurationMs)
      .default(defaultLimits.agent.timeoutMs)
      .describe("Wall-clock time of an agent's run in milliseconds, unless its group has its own."),
    environment_idle_timeout: duration()
      .prefault("1h")
      .describe("How long an environment may do nothing, its background processes included, before it is ended."),
    min_isolation: choice(isolationLevels)
      .default("namespaces")
      .describe(
        "Weakest isolation that is accepted. Requests may ask for more; for less only on the command line and in the library. Unset, sessions over stdio take what the host reaches.",
      ),
    images: z
      .strictObject(
        {
          python: imageReference().default("python:3.12-slim").describe("Image of one-shot Python runs."),
          javascript: imageReference().default("node:24-slim").describe("Image of one-shot JavaScript runs."),
          typescript: imageReference().default("node:24-slim").describe("Image of one-shot TypeScript runs."),
          session: imageReference()
            .default(defaultSessionImage)
            .describe("Image of sessions (`run_code`); the default one is built by Glovebox."),
          session_base: imageReference()
            .default("alpine:3")
            .describe("The Linux that the image of sessions is built on."),
        },
        section,
      )
      .prefault({}),
    prebuilt_only: z
      .boolean("true or false")
      .default(false)
      .describe(
        "Whether images are only ever used as they are: none is pulled or built, and a missing one is an error.",
      ),
    build_dockerfiles: z
      .boolean("true or false")
      .default(false)
      .describe(
        "Whether a request may have the Dockerfile of its project built, in a sandbox, for its tests or its preview to run in that image.",
      ),
    engine_restart: choice(restartRules)
      .default("idle")
      .describe(
        "When an engine that can be restarted is, after an agent's run that its dead network made fail: `never`, `idle` (with no other sandbox live) or `always`.",
      ),
    session: z
      .strictObject(
        {
          idle_timeout: duration()
            .prefault("15m")
            .describe("A session without a call for so long ends, files and all."),
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
            .describe("Most MB (MiB) of packages that are kept; beyond it those not used for longest are removed."),
          install_at_preload: z
            .boolean("true or false")
            .default(false)
            .describe(
              "Whether packages are installed on this machine itself, without a sandbox and without install scripts, for programs at isolation `preload`.",
            ),
          allow: packagePatterns()
            .default([])
            .describe(
              "Packages that may be installed, such as `lodash`, `@scope/*` or `python:numpy`; none: every one.",
            ),
          deny: packagePatterns()
            .default([])
            .describe(
              "Packages that may not be installed, nor be brought along by others; in the same form as `allow`.",
            ),
          min_age: duration()
            .nullable()
            .default(null)
            .describe(
              "How long a version must have been published before it is installed; unset: 24 hours, where the package manager and the registry can tell.",
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
      .describe("Secrets that requests may ask for by name, and where their values are read."),
    mount_allowlist: hostPath()
      .nullable()
      .default(null)
      .describe("Path of the mount allowlist; unset: the user's own, if there is one."),
    project_roots: z
      .array(hostPath(), "a list of paths")
      .max(256, "a list of at most 256 paths")
      .nullable()
      .default(null)
      .describe(
        "Folders below which requests may name files and projects; unset: none for the server, the working directory on the user's own machine.",
      ),
    tooling_files: choice(toolingFilesModes)
      .default("named")
      .describe(
        "Files through which a project runs code on its owner's machine: `named` when a command has changed them, or `locked` against it where they exist; a request can ask for more, not for less.",
      ),
    tooling_paths: z
      .array(relativePath(), "a list of paths")
      .max(64, "a list of at most 64 paths")
      .default([])
      .describe("Files and folders of projects that count as such beside the built-in ones, such as `tools/hooks`."),
    allowed_origins: origins()
      .default([])
      .describe("Origins of web pages that may call the server, each as browsers send it; others are refused."),
    allowed_hosts: hostNames()
      .default([])
      .describe(
        "Names by which the server is reached beyond loopback, without ports; requests for others are refused.",
      ),
    preview: previewSection(),
    agents: agentsSection(),
    drain_timeout: duration()
      .prefault("30s")
      .describe("How long running work may go on when the server is asked to end; then it is ended."),
    keys_file: hostPath()
      .nullable()
      .default(null)
      .describe(
        "Path of a file with API keys, which is only read; unset: the user's own, which `glovebox keys` writes.",
      ),
    store: storeSection(),
    logs: logsSection(),
    log_level: choice(logLevels).default("warn").describe("Least severe entry that the log keeps."),
  },
  section,
);

/** The schema of the file; read for its keys, defaults and descriptions. */
export const settingsSchema: z.ZodObject = schema;

/** Read once a process: code made for reading it fast would take longer to make than it saves. */
export const readOnce: { readonly jitless: boolean } = { jitless: true };

/** The part of the configuration that has keys of its own. */
export type ParsedSettings = Omit<
  Config,
  "hostEnvironment" | "agentEnvironment" | "engineEnvironment" | "explicitSettings" | "upstreamProxy"
>;

/**
 * The settings for the keys given, defaults for the rest, which come down to a lower ceiling.
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
    images: {
      python: keys.images.python,
      javascript: keys.images.javascript,
      typescript: keys.images.typescript,
      session: keys.images.session,
    },
    prebuiltOnly: keys.prebuilt_only,
    buildDockerfiles: keys.build_dockerfiles,
    engineRestart: keys.engine_restart,
    sessionBaseImage: keys.images.session_base,
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
