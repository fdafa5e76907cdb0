import { fileURLToPath } from "node:url";
import { licencesOf } from "./licences-of.ts";

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
