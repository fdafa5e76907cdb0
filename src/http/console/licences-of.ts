import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

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
