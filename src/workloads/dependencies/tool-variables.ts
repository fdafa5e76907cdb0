import { workFolder } from "../../policy/scratch.ts";
import { copyFolder } from "../project/copy-project.ts";

/** What Python packages are installed into, and programs that npm installs. */
const pythonFolder = `${workFolder}/python`;
const toolsFolder = `${workFolder}/tools`;
/** Downloads. */
const cacheFolder = `${workFolder}/cache`;
/** The virtual environment that uv and Poetry make. */
const environmentFolder = `${copyFolder}/.venv`;

/** Variables by which what is installed in the sandbox is found. */
export const toolVariables: Readonly<Record<string, string>> = {
  PYTHONUSERBASE: pythonFolder,
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  npm_config_prefix: toolsFolder,
  npm_config_update_notifier: "false",
  // In the copy, where the tests find them and they can be kept.
  POETRY_VIRTUALENVS_IN_PROJECT: "true",
  YARN_ENABLE_GLOBAL_CACHE: "false",
  // The one that was installed, not one of the project's own files.
  YARN_IGNORE_PATH: "1",
  // From places that no registry is.
  UV_PYTHON_DOWNLOADS: "never",
  // Beside the copy: files of packages can be links to those, and /tmp has little room.
  BUN_INSTALL_CACHE_DIR: `${cacheFolder}/bun`,
  POETRY_CACHE_DIR: `${cacheFolder}/poetry`,
  UV_CACHE_DIR: `${cacheFolder}/uv`,
  YARN_CACHE_FOLDER: `${cacheFolder}/yarn`,
  npm_config_cache: `${cacheFolder}/npm`,
  npm_config_store_dir: `${cacheFolder}/pnpm`,
  PIP_NO_CACHE_DIR: "1",
  PIP_RETRIES: "2",
};

/**
 * A shell line as a command that finds what was installed. It begins when a line comes on its standard input, of which it
 * reads the rest, or nothing.
 */
export function shellLine(line: string, { readsInput }: { readonly readsInput: boolean }): readonly string[] {
  const begin = "read -r _ || exit 125";
  const own = `[ -x ${environmentFolder}/bin/python ] && own=${environmentFolder}/bin:`;
  const path = `own=; ${own}; PATH="$own${toolsFolder}/bin:${pythonFolder}/bin:$PATH"; export PATH`;
  return ["sh", "-c", `${begin}; ${path}; exec sh -c "$1"${readsInput ? "" : " </dev/null"}`, "sh", line];
}
