import { runsInterpretersOnly } from "../../../engines/capabilities.ts";
import { readFile } from "node:fs/promises";
import type { ExecSpec } from "../../../engines/engine.ts";
import { workFolder } from "../../../policy/scratch.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";

/** Names of more files at the top of the folder than a command line holds make it fail, which is told. */
const packScript = `
cd "$1" || exit 1
shift
for name in * .[!.]* ..?*; do
  if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" "./$name"; fi
done
[ $# -eq 0 ] || exec tar -cf - "$@"
`;

/** An empty folder's archive has no bytes, which tar would refuse; any other comes after a line. */
const unpackScript = 'cd "$1" || exit 1; IFS= read -r go || exit 0; exec tar -xpf -';

/** What writes the files of the working folder to its standard output, or makes them of its standard input. */
export async function workCommand(
  verb: "pack" | "unpack",
  sandbox: Pick<Sandbox, "folderOf" | "capabilities">,
): Promise<ExecSpec> {
  if (!runsInterpretersOnly(sandbox.capabilities)) {
    const script = verb === "pack" ? packScript : unpackScript;
    return { command: ["sh", "-c", script, "sh", workFolder], inheritsEnvironment: false, workingDirectory: "/" };
  }
  // A guard allows no shell, and a start in folders of the sandbox only.
  const source = await readFile(new URL("../../../../images/packers/work-folder.cjs", import.meta.url), "utf8");
  return { command: ["node", "-e", source, verb, sandbox.folderOf(workFolder)], workingDirectory: workFolder };
}
