import { describe, expect, it } from "vitest";
import { toolsImagesOf } from "../engines/tools-image.ts";
import { defaultCeilings, defaultLimits } from "../policy/limits.ts";
import type { LoadedConfig } from "./config.ts";
import {
  loadConfig,
  settingsOverrides,
  readFileLayer,
  type LoadConfigOptions,
  type FileOptions,
} from "./load-config.ts";

const toolsImages = toolsImagesOf("bun-runner-base");
const usual = { isUsual: true, isBuilt: true };
const defaultPath = "/home/ann/.config/glovebox/config.json";

function load(options: Partial<LoadConfigOptions> & { files?: Record<string, unknown> } = {}): Promise<LoadedConfig> {
  const { files = {}, ...rest } = options;
  const readFile = async (path: string): Promise<string> => {
    const content = files[path];
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
    if (content instanceof Error) throw content;
    return typeof content === "string" ? content : JSON.stringify(content);
  };
  return loadConfig({ environment: {}, homeDirectory: "/home/ann", readFile, ...rest });
}

function refusal(...lines: string[]): unknown {
  const message =
    lines.length === 1
      ? `Configuration: ${lines[0]}`
      : `Configuration: ${lines.length} problems.\n${lines.map((line) => `- ${line}`).join("\n")}`;
  return expect.objectContaining({ errorType: "INVALID_REQUEST", message });
}

describe("loadConfig without anything set", () => {
  it("gives the defaults", async () => {
    const { values, sources, file } = await load();
    expect(values).toEqual({
      executionMode: null,
      containerRuntime: "auto",
      maxContainers: 10,
      queue: { limit: 100, timeoutMs: 30_000 },
      warmPool: { mode: "auto", min: null, max: 8, idleMs: 300_000, maxAgeMs: 1_800_000, minFreeBytes: 2 ** 29 },
      maxOutputBytes: 10_485_760,
      minIsolation: "namespaces",
      images: {
        python: "python:3.12-slim",
        javascript: "node:24-slim",
        typescript: "node:24-slim",
        session: "bun-runner-base",
      },
      allowedImages: [],
      prebuiltOnly: false,
      buildDockerfiles: false,
      engineRestart: "idle",
      sessionBaseImage: "alpine:3",
      toolsImages,
      templates: [
        { ...usual, name: "base", image: toolsImages["session-tools"], keepsVariables: false },
        { ...usual, name: "code-interpreter-v1", image: toolsImages["code-interpreter"], keepsVariables: true },
      ],
      session: { idleTimeoutMs: 900_000 },
      limits: defaultLimits,
      ceilings: defaultCeilings,
      network: {
        allowOpen: false,
        privateHosts: [],
        dnsServers: [],
        hostAddresses: [],
        upstreamResolves: false,
        maxBytes: 1024 ** 3,
      },
      packages: {
        directory: "~/.glovebox/packages",
        maxBytes: 10 * 1024 ** 3,
        installAtPreload: false,
        policy: { allow: [], deny: [], minAgeMs: 24 * 3_600_000, isMinAgeDemanded: false },
      },
      explicitSettings: [],
      store: { kind: "auto", file: null, url: null, maxAgeMs: 30 * 86_400_000, maxBytes: 1024 ** 3 },
      redisUrl: null,
      logLevel: "warn",
      environmentAllowlist: [],
      environmentIdleMs: 3_600_000,
      secrets: [],
      mountAllowlist: null,
      projectRoots: null,
      allowedOrigins: [],
      allowedHosts: [],
      preview: { domain: null, backend: null },
      drainTimeoutMs: 30_000,
      keysFile: null,
      agents: expect.objectContaining({ mainGroup: "main" }),
      agentEnvironment: {},
      toolingFiles: "named",
      toolingPaths: [],
      hostEnvironment: {},
      upstreamProxy: null,
      engineEnvironment: {},
    });
    expect(new Set(Object.values(sources))).toEqual(new Set(["default"]));
    expect(file).toBeNull();
  });

  it("has the templates that the environment or the file names, in place of ours and beside them", async () => {
    const { values } = await load({
      environment: { GLOVEBOX_E2B_TEMPLATES: '{"base":"r.example/b:1","team/data.v2":"r.example/d:1"}' },
    });
    const fixed = { isUsual: true, isBuilt: false };
    expect(values.templates).toEqual([
      { ...fixed, name: "base", image: "r.example/b:1", keepsVariables: false },
      { ...usual, name: "code-interpreter-v1", image: toolsImages["code-interpreter"], keepsVariables: true },
      { name: "team/data.v2", image: "r.example/d:1", isUsual: false, keepsVariables: true, isBuilt: false },
    ]);
    const files = { [defaultPath]: { e2b: { templates: { constructor: "a" } } } };
    expect((await load({ files })).values.templates.map(({ name }) => name)).toEqual([
      "base",
      "code-interpreter-v1",
      "constructor",
    ]);
  });

  it("freezes them to the last part", async () => {
    const { values } = await load();
    expect(
      [values, values.queue, values.limits, values.limits.execute, values.environmentAllowlist].every(Object.isFrozen),
    ).toBe(true);
  });
});

describe("precedence", () => {
  it("is flag, environment, file, default, key by key", async () => {
    const loaded = await load({
      flags: { max_containers: 1, log_level: undefined, "queue.timeout": "1m" },
      environment: { MAX_CONTAINERS: "2", CONTAINER_RUNTIME: "podman", GLOVEBOX_QUEUE_TIMEOUT: "5" },
      files: {
        [defaultPath]: {
          max_containers: 3,
          container_runtime: "docker",
          log_level: "info",
          queue: { limit: 7, timeout: 9 },
        },
      },
    });
    expect(loaded.values).toMatchObject({
      maxContainers: 1,
      containerRuntime: "podman",
      logLevel: "info",
      queue: { limit: 7, timeoutMs: 60_000 },
      executionMode: null,
    });
    expect(loaded.values.explicitSettings.toSorted()).toEqual([
      "container_runtime",
      "log_level",
      "max_containers",
      "queue.limit",
      "queue.timeout",
    ]);
    expect(loaded.sources).toMatchObject({
      max_containers: "flag",
      "queue.timeout": "flag",
      container_runtime: "environment",
      log_level: "file",
      "queue.limit": "file",
      execution_mode: "default",
    });
    expect(loaded.settings).toMatchObject({ max_containers: 1, "queue.timeout": "1m", execution_mode: null });
    expect(loaded.file).toBe(defaultPath);
  });

  it("reads text of flags as it reads variables", async () => {
    const { values } = await load({ flags: { max_containers: "4", environment_allowlist: "A,B" } });
    expect(values).toMatchObject({ maxContainers: 4, environmentAllowlist: ["A", "B"] });
  });
});

describe("bad values", () => {
  it.each([
    [
      { EXECUTION_MODE: "docker" },
      'execution_mode (environment variable EXECUTION_MODE): expected one of container, preload, got "docker".',
    ],
    [
      { CONTAINER_RUNTIME: "nomad" },
      'container_runtime (environment variable CONTAINER_RUNTIME): expected one of auto, docker, podman, apple, kubernetes, got "nomad".',
    ],
    [
      { MAX_CONTAINERS: "0" },
      "max_containers (environment variable MAX_CONTAINERS): expected a whole number of sandboxes from 1 to 10000, got 0.",
    ],
    [
      { MAX_CONTAINERS: "many" },
      'max_containers (environment variable MAX_CONTAINERS): expected a whole number of sandboxes from 1 to 10000, got "many".',
    ],
    [
      { CONTAINER_MAX_OUTPUT_SIZE: "-1" },
      "max_output_bytes (environment variable CONTAINER_MAX_OUTPUT_SIZE): expected a whole number of bytes from 1024 to 1073741824, got -1.",
    ],
    [
      { GLOVEBOX_QUEUE_TIMEOUT: "soon" },
      'queue.timeout (environment variable GLOVEBOX_QUEUE_TIMEOUT): expected a duration such as "500ms", "30s" or "2m", at most 24 days, got "soon".',
    ],
    [
      { GLOVEBOX_IMAGE_PYTHON: "python; id" },
      'images.python (environment variable GLOVEBOX_IMAGE_PYTHON): expected an image reference such as python:3.12-slim, got "python; id".',
    ],
    [
      { GLOVEBOX_MIN_ISOLATION: "strong" },
      'min_isolation (environment variable GLOVEBOX_MIN_ISOLATION): expected one of preload, namespaces, container, vm, got "strong".',
    ],
    [
      { GLOVEBOX_LIMIT_TEST_PIDS: "7" },
      "limits.test.pids (environment variable GLOVEBOX_LIMIT_TEST_PIDS): expected a whole number of processes from 8 to 4194304, got 7.",
    ],
    [
      { GLOVEBOX_ENV_ALLOWLIST: "A,B=C,D=E" },
      'environment_allowlist (environment variable GLOVEBOX_ENV_ALLOWLIST): expected a list of names of environment variables, such as API_URL, got ["A","B=C","D=E"].',
    ],
    [
      { GLOVEBOX_LOG_LEVLE: "x" },
      "environment variable GLOVEBOX_LOG_LEVLE is not known (did you mean GLOVEBOX_LOG_LEVEL?).",
    ],
  ])("in the environment are refused: %j", async (environment, line) => {
    await expect(load({ environment })).rejects.toEqual(refusal(line));
  });

  const place = "(default configuration file)";
  it.each([
    [{ max_container: 5 }, `max_container ${place}: unknown key (did you mean max_containers?).`],
    [{ queue: { limits: 5 } }, `queue.limits ${place}: unknown key (did you mean queue.limit?).`],
    [{ limit: {} }, `limit ${place}: unknown key (did you mean limits?).`],
    [
      { limits: { agent: { timeout_seconds: 5 } } },
      `limits.agent.timeout_seconds ${place}: unknown key (did you mean container_timeout_ms?).`,
    ],
    [{ zzzzzzzzz: 5 }, `zzzzzzzzz ${place}: unknown key.`],
    ['{"__proto__": {"max_containers": 5}}', `__proto__ ${place}: unknown key.`],
    [{ queue: 5 }, `queue ${place}: expected an object, got 5.`],
    [[], "default configuration file: expected an object."],
    ["null", "default configuration file: expected an object."],
    [
      { max_containers: "5" },
      `max_containers ${place}: expected a whole number of sandboxes from 1 to 10000, got "5".`,
    ],
    [
      { max_containers: null },
      `max_containers ${place}: expected a whole number of sandboxes from 1 to 10000, got null.`,
    ],
    [
      { limits: { execute: { cpus: 0 } } },
      `limits.execute.cpus ${place}: expected a number of CPUs from 0.05 to 4096, got 0.`,
    ],
    [
      { e2b: { templates: { "a b": "x" } } },
      `e2b.templates.a b ${place}: expected a name of at most 128 letters, digits, dots, _, / and -, such as my-template, got "x".`,
    ],
    [
      { e2b: { templates: { a: "x; id" } } },
      `e2b.templates.a ${place}: expected an image reference such as python:3.12-slim, got "x; id".`,
    ],
    [
      { environment_allowlist: [5] },
      `environment_allowlist ${place}: expected a list of names of environment variables, such as API_URL, got [5].`,
    ],
  ])("in the file are refused: %j", async (content, line) => {
    await expect(load({ files: { [defaultPath]: content } })).rejects.toEqual(refusal(line));
  });

  it("are all named at once, with where each stands, even when a stronger source hides one", async () => {
    const attempt = load({
      flags: { log_level: "loud", nonsense: 1 },
      environment: { MAX_CONTAINERS: "5", GLOVEBOX_X_Y_Z_UNHEARD_OF: "1" },
      files: { [defaultPath]: { max_containers: 0, images: { ruby: "x" } } },
    });
    await expect(attempt).rejects.toEqual(
      refusal(
        "environment variable GLOVEBOX_X_Y_Z_UNHEARD_OF is not known.",
        'log_level (command-line flag): expected one of fatal, error, warn, info, debug, trace, silent, got "loud".',
        "nonsense (command-line flag): unknown key.",
        "max_containers (default configuration file): expected a whole number of sandboxes from 1 to 10000, got 0.",
        "images.ruby (default configuration file): unknown key.",
      ),
    );
  });
});

describe("ceilings", () => {
  it("bring defaults down, the agent's time too, and keep their source", async () => {
    const environment = { GLOVEBOX_CEILING_MEMORY_MB: "1024", GLOVEBOX_CEILING_TIMEOUT_SECONDS: "60.5" };
    const { values, settings, sources } = await load({ environment });
    expect(values.limits.test).toMatchObject({ memoryBytes: 1024 ** 3, timeoutMs: 60_500 });
    expect(values.limits.execute).toEqual(defaultLimits.execute);
    expect(values.limits.agent.timeoutMs).toBe(60_500);
    expect(settings).toMatchObject({ "limits.test.memory_mb": 1024, container_timeout_ms: 60_500 });
    expect(sources).toMatchObject({ "limits.test.memory_mb": "default", "ceilings.memory_mb": "environment" });
  });

  it("refuse limits that somebody set above them", async () => {
    const attempt = load({
      environment: { CONTAINER_TIMEOUT: "3600001" },
      files: { [defaultPath]: { limits: { execute: { memory_mb: 2048 } }, ceilings: { memory_mb: 1024 } } },
    });
    await expect(attempt).rejects.toEqual(
      refusal(
        "limits.execute.memory_mb (default configuration file): expected at most 1024, the ceiling of ceilings.memory_mb, got 2048.",
        "container_timeout_ms (environment variable CONTAINER_TIMEOUT): expected at most 3600000, the ceiling of ceilings.timeout_seconds, got 3600001.",
      ),
    );
  });

  it("can be raised, and limits with them", async () => {
    const { values } = await load({
      environment: { GLOVEBOX_CEILING_CPUS: "64", GLOVEBOX_LIMIT_TEST_CPUS: "32", CONTAINER_TIMEOUT: "500" },
    });
    expect(values.ceilings.cpus).toBe(64);
    expect(values.limits.test.cpus).toBe(32);
    expect(values.limits.agent.timeoutMs).toBe(500);
  });
});

describe("the host's variables", () => {
  it("reach the configuration only when they are on the allowlist or an engine's own", async () => {
    const { values } = await load({
      environment: {
        GLOVEBOX_ENV_ALLOWLIST: "API_URL,MISSING,toString",
        API_URL: "x=y",
        SECRET: "s",
        DOCKER_HOST: "tcp://[not checked",
        HOME: "/home/ann",
      },
    });
    expect(values.hostEnvironment).toEqual({ API_URL: "x=y" });
    expect(values.engineEnvironment).toEqual({ DOCKER_HOST: "tcp://[not checked", HOME: "/home/ann" });
    expect(JSON.stringify(values)).not.toContain("SECRET");
  });
});

it("turns sections into dotted paths and keeps lists whole", () => {
  const settings = {
    max_output_bytes: 5,
    images: { python: "a:1", javascript: undefined },
    environment_allowlist: ["A", "B"],
  };
  expect(settingsOverrides(settings)).toEqual({
    max_output_bytes: 5,
    "images.python": "a:1",
    environment_allowlist: ["A", "B"],
  });
});

function read(
  files: Record<string, string | Error>,
  options: Partial<FileOptions> = {},
): ReturnType<typeof readFileLayer> {
  const readFile = async (path: string): Promise<string> => {
    const content = files[path] ?? Object.assign(new Error(`no ${path}`), { code: "ENOENT" });
    if (content instanceof Error) throw content;
    return content;
  };
  return readFileLayer({ environment: {}, homeDirectory: "/home/ann", readFile, ...options });
}

const all = {
  "/flag.json": '{"from": "flag"}',
  "/named.json": '{"from": "variable"}',
  "/xdg/glovebox/config.json": '{"from": "xdg"}',
  "/home/ann/.config/glovebox/config.json": '{"from": "home"}',
};
const everywhere = { GLOVEBOX_CONFIG: "/named.json", XDG_CONFIG_HOME: "/xdg" };

describe("readFileLayer", () => {
  it.each([
    ["flag", { file: "/flag.json", environment: everywhere }],
    ["variable", { environment: everywhere }],
    ["xdg", { environment: { GLOVEBOX_CONFIG: "", XDG_CONFIG_HOME: "/xdg" } }],
    ["home", {}],
    ["home", { environment: { XDG_CONFIG_HOME: "" } }],
    ["home", { environment: { XDG_CONFIG_HOME: "relative" } }],
  ])("reads the file named by %s (%j)", async (from, options) => {
    expect((await read(all, options))?.content).toEqual({ from });
  });

  it("does without a default file, also when its folder is no folder", async () => {
    expect(await read({})).toBeNull();
    const notFolder = Object.assign(new Error("no folder"), { code: "ENOTDIR" });
    expect(await read({ "/home/ann/.config/glovebox/config.json": notFolder })).toBeNull();
  });

  it.each([
    [{ file: "/absent.json" }, "The configuration file given by --config does not exist."],
    [
      { environment: { GLOVEBOX_CONFIG: "/absent.json" } },
      "The configuration file given by GLOVEBOX_CONFIG does not exist.",
    ],
  ])("refuses a named file that is missing, without its path: %j", async (options, message) => {
    await expect(read({}, options)).rejects.toEqual(expect.objectContaining({ errorType: "INVALID_REQUEST", message }));
  });

  it("refuses one that cannot be read, the default one too", async () => {
    const denied = Object.assign(new Error("EACCES: /home/ann"), { code: "EACCES" });
    await expect(read({ "/home/ann/.config/glovebox/config.json": denied })).rejects.toEqual(
      expect.objectContaining({ message: "The default configuration file cannot be read (EACCES).", cause: denied }),
    );
  });

  it("reads a file with a byte order mark and CRLF", async () => {
    const layer = await read({ "/flag.json": '\ufeff{\r\n"a": 1\r\n}\r\n' }, { file: "/flag.json" });
    expect(layer?.content).toEqual({ a: 1 });
  });

  it("names line and column of what is not JSON and quotes nothing of it", async () => {
    const attempt = read({ "/flag.json": '{\n  "token": hunter2\n}' }, { file: "/flag.json" });
    await expect(attempt).rejects.toEqual(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: "The configuration file given by --config is not JSON: error at line 2, column 12.",
        context: { line: 2, column: 12 },
      }),
    );
    await expect(attempt).rejects.not.toThrow(/hunter2/);
  });
});
