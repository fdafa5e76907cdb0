import { fileURLToPath } from "node:url";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What the console's page loads. */
export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
}

/** Browsers of the last two years. */
const target = ["chrome120", "firefox120", "safari17"];
const sources = ["main.tsx", "styles/console.css"].map((name) =>
  fileURLToPath(new URL(`../console/${name}`, import.meta.url)),
);

/**
 * Bundles the console's two files from its sources, with the licences of the packages in them. Only a checkout has the
 * sources; the published package has the bundles.
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
  const heading = "Glovebox's console contains:";
  return {
    script: `/*!\n${heading}\n\n${licences.replaceAll("*/", "* /")}\n*/\n${textOf(".js")}`,
    style: textOf(".css"),
  };
}

function missing(extension: string): never {
  throw new Error(`The bundle of the console has no ${extension} file.`);
}

/** The licence of each package that a bundle's files belong to, one after another. */
export async function licencesOf(inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((path) => packageFolder(path) ?? []));
  const texts = await Promise.all(
    [...folders].toSorted().map(async (folder) => {
      const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<
        string,
        string
      >;
      return `${name} ${version}\n\n${(await readLicence(folder)).trim()}`;
    }),
  );
  return texts.join("\n\n");
}

async function readLicence(folder: string): Promise<string> {
  const name = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(each));
  if (name === undefined) throw new Error(`${folder} has no licence, so that nothing of it may be in a bundle.`);
  return readFile(join(folder, name), "utf8");
}

/** Null for a file of our own. */
function packageFolder(path: string): string | null {
  const parts = path.replaceAll("\\", "/").split("/");
  const modules = parts.lastIndexOf("node_modules");
  if (modules === -1) return null;
  const isScoped = parts[modules + 1]?.startsWith("@") === true;
  return parts.slice(0, modules + (isScoped ? 3 : 2)).join("/");
}
