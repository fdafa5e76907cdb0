import path from "node:path";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Variables that are lists of folders. */
const searchPaths: ReadonlySet<string> = new Set(["PYTHONPATH", "NODE_PATH"]);

/**
 * The variables as programs need them that run on the host itself, where a sandbox's folders have other names. `delimiter`
 * stands between folders in this machine's lists.
 */
export function withRealFolders(
  environment: Readonly<Record<string, string>>,
  sandbox: Pick<Sandbox, "folderOf">,
  delimiter: string = path.delimiter,
): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).map(([name, value]) => {
    if (name === "HOME") return [name, sandbox.folderOf(value)] as const;
    if (!searchPaths.has(name)) return [name, value] as const;
    const folders = value.split(":");
    const real = folders.map((folder) => sandbox.folderOf(folder));
    // Where the names are the same, the program's own values stay, whatever this machine uses.
    return [name, real.every((folder, index) => folder === folders[index]) ? value : real.join(delimiter)] as const;
  });
  return Object.fromEntries(entries);
}
