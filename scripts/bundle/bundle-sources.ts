import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type OutputFile, type Plugin } from "esbuild";

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

export interface BundleOptions {
  /** Modules that are started or imported from outside, as paths in `src`. */
  readonly entries: readonly string[];
  /** Where it would be written, as an absolute path. */
  readonly folder: string;
  /** What replaces `import.meta.url` in a module of `src`, as a JavaScript expression. */
  readonly urlOf: (source: string) => string;
}

/** The files of a bundle, and the files that it was made from. */
export interface Bundle {
  readonly files: readonly OutputFile[];
  readonly inputs: readonly string[];
}

/** Our own code in a few files: what a command line needs is read at once, the rest when it is used. */
export async function bundleSources({ entries, folder, urlOf }: BundleOptions): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: entries.map((entry) => `${sources}${entry}`),
    outdir: folder,
    outbase: sources,
    entryNames: "[dir]/[name]",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    mainFields: ["module", "main"],
    // Names stay as they are: stack traces of our errors are read.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    plugins: [ownModules(urlOf), plainBuiltIns, otherPackages],
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  return { files: outputFiles, inputs: Object.keys(metafile.inputs) };
}

/** A module that reads or starts files next to itself needs its own path, not that of the bundle. */
const ownModules = (urlOf: BundleOptions["urlOf"]): Plugin => ({
  name: "own modules",
  setup(made) {
    made.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!path.startsWith(sources)) return undefined;
      const text = await readFile(path, "utf8");
      const contents = text
        .replaceAll("import.meta.url", urlOf(path.slice(sources.length)))
        // The same names, of which those that nobody uses can be left out.
        .replaceAll('import { z } from "zod";', 'import * as z from "zod";');
      return { contents, loader: "ts" };
    });
  },
});

/**
 * An import statement reads every export of a built-in Node module. The exports of `node:http` that mirror the browser's
 * WebSocket load a whole second HTTP client, which takes half as long as most commands do.
 */
const plainBuiltIns: Plugin = {
  name: "plain built-ins",
  setup(made) {
    made.onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: "built-in" }));
    made.onLoad({ filter: /^/, namespace: "built-in" }, ({ path }) => {
      const exported = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(path)));
      const names = exported.flatMap(([name, { value }]) => (value === undefined ? [] : name));
      const module = `process.getBuiltinModule(${JSON.stringify(path)})`;
      return { contents: `const all = ${module}; export default all; export const { ${names.join(", ")} } = all;` };
    });
  },
};

const otherPackages: Plugin = {
  name: "other packages",
  setup(made) {
    made.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === "entry-point") return undefined;
      const name = path.split("/", path.startsWith("@") ? 2 : 1).join("/");
      return inlined.has(name) ? undefined : { path, external: true };
    });
  },
};
