/** What the files of one layer may import; everything else is refused. */
export interface LayerRule {
  /** Other layers, all of them lower. */
  readonly layers: readonly string[];
  /** Packages from the registry. */
  readonly packages: readonly string[];
  /** Built-in Node modules; `any` for layers that act on the outside world. */
  readonly builtins: "any" | readonly string[];
}

/** Layers from bottom to top; a layer imports only earlier ones. Each is a folder, except for `splitFolders`. */
export const layerOrder: readonly string[] = [
  "errors",
  "words",
  "languages",
  "contracts",
  "base",
  "policy",
  "engines",
  "egress",
  "ingress",
  "sandbox",
  "packages",
  "workloads",
  "telemetry",
  "store",
  "config",
  "keys",
  "objects",
  "client",
  "transfer",
  "live",
  "peers",
  "handlers",
  "platform",
  "calls",
  "library",
  "console",
  "http",
  "mcp",
  "e2b",
  "cli",
];

/** The import table: one row per layer. */
export const layers: Readonly<Record<string, LayerRule>> = {
  errors: { layers: [], packages: [], builtins: [] },
  words: { layers: [], packages: [], builtins: [] },
  // Below the contracts, whose enumerations are made of its rows: so it runs wherever they are read, browsers included.
  languages: { layers: ["errors"], packages: [], builtins: [] },
  contracts: { layers: ["errors", "words", "languages"], packages: ["zod"], builtins: [] },
  base: { layers: ["errors"], packages: ["pino"], builtins: "any" },
  policy: { layers: ["errors", "words", "languages", "base"], packages: [], builtins: ["node:path"] },
  engines: {
    layers: ["errors", "words", "base", "policy"],
    packages: ["bun", "ws", "yaml"],
    builtins: "any",
  },
  egress: { layers: ["errors", "base", "policy"], packages: [], builtins: "any" },
  ingress: { layers: ["errors", "base"], packages: [], builtins: "any" },
  sandbox: { layers: ["errors", "words", "base", "policy", "engines", "egress"], packages: ["zod"], builtins: "any" },
  packages: {
    layers: ["errors", "words", "languages", "base", "policy", "engines", "egress", "sandbox"],
    packages: ["oxc-parser", "@lezer/python"],
    builtins: "any",
  },
  workloads: {
    layers: ["errors", "words", "languages", "base", "policy", "engines", "egress", "ingress", "sandbox", "packages"],
    packages: ["esbuild", "jsonc-parser", "smol-toml", "@rgrove/parse-xml", "zod"],
    builtins: "any",
  },
  telemetry: {
    layers: ["errors", "words", "base", "policy", "engines", "sandbox"],
    packages: ["@opentelemetry/api", "@opentelemetry/sdk-node", "prom-client", "redis"],
    builtins: "any",
  },
  store: { layers: ["errors", "base", "engines", "sandbox", "telemetry"], packages: ["kysely", "pg"], builtins: "any" },
  config: { layers: ["errors", "words", "languages", "base", "policy", "engines"], packages: ["zod"], builtins: "any" },
  keys: { layers: ["errors", "contracts", "base", "policy", "config"], packages: ["zod"], builtins: "any" },
  objects: { layers: ["errors", "words", "contracts"], packages: ["zod"], builtins: [] },
  client: { layers: ["errors", "words", "contracts", "objects"], packages: ["zod"], builtins: [] },
  transfer: {
    layers: ["errors", "contracts", "sandbox", "config", "objects", "client"],
    packages: [],
    builtins: ["node:fs", "node:fs/promises", "node:path"],
  },
  live: { layers: ["errors", "words", "contracts", "base"], packages: ["ws"], builtins: [] },
  peers: {
    layers: ["errors", "contracts", "base", "sandbox", "client", "live"],
    packages: ["ws"],
    builtins: ["node:fs/promises", "node:http", "node:net", "node:path", "node:stream", "node:timers/promises"],
  },
  handlers: {
    layers: [
      ...["errors", "words", "languages", "contracts", "base", "policy", "engines", "egress", "ingress", "sandbox"],
      ...["packages", "workloads", "telemetry", "store", "config", "transfer", "peers"],
    ],
    packages: [],
    builtins: ["node:buffer", "node:fs/promises", "node:path"],
  },
  platform: {
    layers: [
      ...["errors", "languages", "contracts", "base", "policy", "engines", "egress", "ingress", "sandbox"],
      ...["packages", "workloads", "telemetry", "store", "config", "peers", "handlers"],
    ],
    packages: ["pino"],
    builtins: "any",
  },
  calls: { layers: ["errors", "words", "contracts", "base"], packages: [], builtins: [] },
  library: { layers: ["errors", "contracts", "base", "config", "platform", "objects"], packages: [], builtins: [] },
  // It runs in a browser: it uses only types of the contracts.
  console: { layers: ["contracts"], packages: ["preact", "@preact/signals", "uplot"], builtins: [] },
  http: {
    layers: ["errors", "words", "contracts", "base", "config", "live", "platform", "calls"],
    packages: ["fastify", "@fastify/websocket", "zod", "esbuild"],
    builtins: "any",
  },
  mcp: {
    layers: ["errors", "languages", "contracts", "base", "config", "platform", "calls"],
    packages: ["@modelcontextprotocol/server", "@modelcontextprotocol/node", "zod", "jsonc-parser", "smol-toml"],
    builtins: "any",
  },
  e2b: {
    layers: ["errors", "words", "languages", "contracts", "base", "config", "platform", "calls"],
    packages: ["zod"],
    builtins: "any",
  },
  cli: {
    layers: [
      "errors",
      "words",
      "languages",
      "contracts",
      "base",
      "policy",
      "config",
      "keys",
      "objects",
      "library",
      "client",
      "transfer",
      "http",
      "mcp",
      "e2b",
    ],
    packages: ["commander", "zod"],
    builtins: "any",
  },
};

/**
 * Folders that contain two layers, so that an operation's contract and its handler are found together. What doors, clients
 * and documents read imports nothing that acts; only the platform knows handlers. The words and maxima of contracts are for
 * every layer; their schemas are not.
 */
export const splitFolders: Readonly<Record<string, { readonly [Layer: string]: RegExp }>> = {
  library: { objects: /^objects\//, library: /./ },
  operations: {
    words: /^contract\/wire-values\.ts$/,
    contracts: /^(?:contract\/.+|table|[a-z-]+-contract)(?:\.test)?\.ts$/,
    handlers: /./,
  },
};

/** Files directly under `src`. */
export const rootFiles: Readonly<Record<string, LayerRule>> = {
  "src/index.ts": {
    layers: ["errors", "words", "contracts", "objects", "library", "client", "transfer"],
    packages: [],
    builtins: [],
  },
  "src/client.ts": { layers: ["errors", "objects", "client"], packages: [], builtins: [] },
};

/** Layers whose folders do not import each other, except shared ones, each of which may import those before it; `wiring` files may import all. */
export const siblings: Readonly<
  Record<string, { readonly shared: readonly string[]; readonly wiring: readonly string[] }>
> = {
  engines: {
    shared: ["enforcement", "images", "supervised", "mend", "docker-api"],
    wiring: ["src/engines/engine-table.ts"],
  },
  workloads: { shared: ["program", "run", "place", "project", "dependencies"], wiring: [] },
};

/** Modules that one folder of a layer may not use, although its layer may. */
export const foldersWithout: Readonly<Record<string, readonly string[]>> = {
  // What happens inside a container is reached only through the stream that its engine gives.
  "src/engines/supervised/": ["node:http", "node:https", "node:http2", "node:tls", "node:child_process"],
};

/** Vendor packages that only one file may import. */
export const onePlacePackages: readonly string[] = ["oxc-parser", "@lezer/python", "pino", "prom-client"];

/** Where the environment (`process.*`, `node:os`) may be read. */
export const environmentReaders: readonly string[] = [
  ...["src/config/", "src/cli/"],
  ...[
    "src/egress/proxy/proxy-main.ts",
    "src/packages/scan-main.ts",
    "src/workloads/session/variables/notebook-main.ts",
    "src/sandbox/walk-main.ts",
    "src/workloads/agent/search-main.ts",
    "src/workloads/tests/report/read-main.ts",
    "src/workloads/agent/runner-main.ts",
  ],
];

/** Where the clock and randomness may be read: where the platform is assembled; elsewhere they are parameters. */
export const clockReaders: readonly string[] = [
  "src/platform/",
  "src/base/id.ts",
  "src/console/",
  ...environmentReaders,
];
