import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What the console's page loads. */
export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
}

/** Browsers of the last two years. */
const target = ["chrome120", "firefox120", "safari17"];
const sources = ["main.tsx", "styles/console.css"].map((name) =>
  fileURLToPath(new URL(`../../console/${name}`, import.meta.url)),
);

/**
 * Makes the console's two files from its sources, with the licences of the packages that are in them. Only a checkout has
 * those; the published package has what came of them.
 */
export async function bundleConsole(): Promise<ConsoleFiles> {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: sources,
    outdir: "console",
    bundle: true,
    minify: true,
    format: "esm",
    target,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const textOf = (extension: string): string =>
    outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? missing(extension);
  const licences = await licencesOf(Object.keys(metafile.inputs));
  return { script: `${licences}\n${textOf(".js")}`, style: textOf(".css") };
}

/** The licence of each package that a bundle's files belong to, as a comment. */
async function licencesOf(inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((path) => packageFolder(path) ?? []));
  const texts = await Promise.all(
    [...folders].toSorted().map(async (folder) => {
      const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<
        string,
        string
      >;
      return `${name} ${version}\n\n${(await readFile(join(folder, "LICENSE"), "utf8")).trim()}`;
    }),
  );
  return `/*!\nGlovebox's console contains:\n\n${texts.join("\n\n").replaceAll("*/", "* /")}\n*/`;
}

/** Null for a file of our own. */
function packageFolder(path: string): string | null {
  const parts = path.replaceAll("\\", "/").split("/");
  const modules = parts.lastIndexOf("node_modules");
  if (modules === -1) return null;
  const isScoped = parts[modules + 1]?.startsWith("@") === true;
  return parts.slice(0, modules + (isScoped ? 3 : 2)).join("/");
}

function missing(extension: string): never {
  throw new Error(`The bundle of the console has no ${extension} file.`);
}
