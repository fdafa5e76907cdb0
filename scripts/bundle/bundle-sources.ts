import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rolldown, type Plugin } from "rolldown";
import { groupModules } from "./group-modules.ts";

export const sources: string = fileURLToPath(new URL("../../src/", import.meta.url));

/**
 * Packages that become part of the bundle: most commands or the start of `mcp` need them, and reading their hundreds of files
 * takes longer than the commands themselves. What these packages import is listed too, so that each exists only once. All
 * others are loaded from where npm installed them.
 */
const inlined: ReadonlySet<string> = new Set([
  ...["@hono/node-server", "@modelcontextprotocol/core", "@modelcontextprotocol/node", "@modelcontextprotocol/server"],
  ...["commander", "hono", "jsonc-parser", "kysely", "smol-toml", "zod"],
]);

/** Engines that `run` may need, and what it loads with one of them: at times it needs none of these. */
const engines: readonly string[] = [
  ...["policy/seccomp/engine-profile.ts", "engines/docker/docker-engine.ts", "engines/local/local-engine.ts"],
];

/** What is loaded one after the other: by `run`, whose start counts most, then by what else people and agents wait for. */
const stages: readonly string[] = [
  ...["config/host/compile-cache.ts", "cli/process-io.ts", "cli/run-command.ts", "library/embedded-caller.ts"],
  ...engines,
  "operations/execute-handler.ts",
  ...["cli/commands/mcp-command.ts", "mcp/open-mcp-door.ts"],
];

export interface BundleOptions {
  /** Modules that are started or imported from outside, as paths in `src`. */
  readonly entries: readonly string[];
  /** Sets of entries that need little of the rest, and must not load more than that. */
  readonly apart: readonly (readonly string[])[];
  /** What replaces `import.meta.url` in a module of `src`, as a JavaScript expression. */
  readonly urlOf: (source: string) => string;
}

export interface BundledFile {
  /** From the folder that it belongs in, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** The files of a bundle, and the absolute paths of those that it was made from. */
export interface Bundle {
  readonly files: readonly BundledFile[];
  readonly inputs: readonly string[];
}

/** Our own code in a few files: what a command line needs is read at once, the rest when it is used. */
export async function bundleSources({ entries, apart, urlOf }: BundleOptions): Promise<Bundle> {
  const paths = (names: readonly string[]): readonly string[] => names.map((name) => `${sources}${name}`);
  await using bundle = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry.replace(/\.ts$/, ""), `${sources}${entry}`])),
    // With "node", every file would import `node:module`, for CommonJS that is not there: browsers could not have the client.
    platform: "neutral",
    resolve: { mainFields: ["module", "main"], conditionNames: ["node", "import", "default"] },
    transform: { target: "node22.18" },
    plugins: [ownModules(urlOf), plainBuiltIns, otherPackages],
    logLevel: "silent",
    // Else each module begins with its path on the machine that built it.
    experimental: { attachDebugInfo: "none" },
  });
  const { output } = await bundle.generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    // Names and lines stay: stack traces of our errors are read, and Node prints the line that threw one.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
    comments: false,
    codeSplitting: {
      // What is loaded with a module is in its group or an earlier one already.
      includeDependenciesRecursively: false,
      groups: [{ name: groupModules({ stages: paths(stages), optional: paths(engines), apart: apart.map(paths) }) }],
    },
  });
  const chunks = output.filter((file) => file.type === "chunk");
  return {
    files: chunks.map(({ fileName, code }) => ({ path: fileName, text: code })),
    inputs: chunks.flatMap(({ moduleIds }) => moduleIds),
  };
}

/** A module that reads or starts files next to itself needs its own path, not that of the bundle. */
const ownModules = (urlOf: BundleOptions["urlOf"]): Plugin => ({
  name: "own modules",
  load: async (path) => {
    if (!path.startsWith(sources)) return null;
    const text = await readFile(path, "utf8");
    const code = text
      .replaceAll("import.meta.url", urlOf(path.slice(sources.length)))
      // The same names, of which those that nobody uses can be left out.
      .replaceAll('import { z } from "zod";', 'import * as z from "zod";');
    return { code, moduleType: "ts" };
  },
});

const builtIn = "\0built-in ";

/**
 * An import statement reads every export of a built-in Node module. The exports of `node:http` that mirror the browser's
 * WebSocket load a whole second HTTP client, which takes half as long as most commands do; others load parts of Node that no
 * command needs, such as its history of typed lines.
 */
const readInPart: ReadonlySet<string> = new Set(["node:http", "node:process", "node:util"]);

const plainBuiltIns: Plugin = {
  name: "plain built-ins",
  resolveId: (path) => (readInPart.has(path) ? { id: `${builtIn}${path}`, moduleSideEffects: false } : null),
  load: (id) => {
    if (!id.startsWith(builtIn)) return null;
    const path = id.slice(builtIn.length);
    const exported = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(path)));
    const names = exported.flatMap(([name, { value }]) => (value === undefined ? [] : name));
    const module = `process.getBuiltinModule(${JSON.stringify(path)})`;
    return { code: `const all = ${module}; export default all; export const { ${names.join(", ")} } = all;` };
  },
};

const otherPackages: Plugin = {
  name: "other packages",
  resolveId: (path, importer) => {
    if (importer === undefined || /^[./\0]/.test(path)) return null;
    const name = path.split("/", path.startsWith("@") ? 2 : 1).join("/");
    return inlined.has(name) ? null : { id: path, external: true };
  },
};
