import { workFolder } from "../../policy/scratch.ts";

/** What Python packages are installed into, and programs that npm installs. */
const pythonFolder = `${workFolder}/python`;
const toolsFolder = `${workFolder}/tools`;

/** Variables by which what is installed in the sandbox is found. */
export const toolVariables: Readonly<Record<string, string>> = {
  PYTHONUSERBASE: pythonFolder,
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  npm_config_prefix: toolsFolder,
  npm_config_update_notifier: "false",
};

/** A shell line as a command that finds what was installed. It begins when a line comes on its standard input. */
export function shellLine(line: string): readonly string[] {
  const begin = "read -r _ || exit 125";
  const path = `PATH="${toolsFolder}/bin:${pythonFolder}/bin:$PATH"; export PATH`;
  return ["sh", "-c", `${begin}; ${path}; exec sh -c "$1" </dev/null`, "sh", line];
}
