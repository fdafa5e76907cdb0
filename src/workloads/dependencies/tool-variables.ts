import { workFolder } from "../../policy/scratch.ts";
import { copyFolder } from "../project/copy-project.ts";

/** Where Python packages, and programs installed by npm, are put. */
const pythonFolder = `${workFolder}/python`;
const toolsFolder = `${workFolder}/tools`;
/** Downloads. */
const cacheFolder = `${workFolder}/cache`;
/** The virtual environment that uv and Poetry create. */
const environmentFolder = `${copyFolder}/.venv`;

/** Variables by which what is installed in the sandbox is found. */
export const toolVariables: Readonly<Record<string, string>> = {
  PYTHONUSERBASE: pythonFolder,
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  npm_config_prefix: toolsFolder,
  npm_config_update_notifier: "false",
  // Inside the copy, where tests find them and they can be kept.
  POETRY_VIRTUALENVS_IN_PROJECT: "true",
  YARN_ENABLE_GLOBAL_CACHE: "false",
  // The installed one, not one of the project's own files.
  YARN_IGNORE_PATH: "1",
  // From URLs that are not registries.
  UV_PYTHON_DOWNLOADS: "never",
  // Next to the copy: packages' files can be links to those, and /tmp is small.
  BUN_INSTALL_CACHE_DIR: `${cacheFolder}/bun`,
  POETRY_CACHE_DIR: `${cacheFolder}/poetry`,
  UV_CACHE_DIR: `${cacheFolder}/uv`,
  YARN_CACHE_FOLDER: `${cacheFolder}/yarn`,
  npm_config_cache: `${cacheFolder}/npm`,
  // pnpm's store is in it. As `npm_config_store_dir` npm would warn about it in every command.
  PNPM_HOME: `${cacheFolder}/pnpm`,
  PIP_NO_CACHE_DIR: "1",
  PIP_RETRIES: "2",
};

/**
 * A shell line as a command that finds what was installed. It starts when it reads a line from its standard input; the
 * rest of that, or nothing, is its input.
 */
export function shellLine(line: string, { readsInput }: { readonly readsInput: boolean }): readonly string[] {
  const begin = "read -r _ || exit 125";
  const own = `[ -x ${environmentFolder}/bin/python ] && own=${environmentFolder}/bin:`;
  const path = `own=; ${own}; PATH="$own${toolsFolder}/bin:${pythonFolder}/bin:$PATH"; export PATH`;
  return ["sh", "-c", `${begin}; ${path}; exec sh -c "$1"${readsInput ? "" : " </dev/null"}`, "sh", line];
}

type Variables = Readonly<Record<string, string>>;

/**
 * Variables for installers, in addition to the network's variables for all programs. `version`: those that replace a
 * version from the project's history, which is not in its copy; default: what the commonest tools read.
 */
export function installerVariables(
  network: Variables,
  version: Variables = { SETUPTOOLS_SCM_PRETEND_VERSION: "0.0.0" },
): Variables {
  const registry = network["npm_config_registry"];
  const proxy = network["http_proxy"];
  return {
    ...version,
    // Yarn does not read npm's variable for it: the first one is for Yarn 1, the second for later versions.
    ...(registry === undefined
      ? {}
      : { yarn_registry: registry, YARN_NPM_REGISTRY_SERVER: registry.replace(/\/$/, "") }),
    ...(proxy === undefined ? {} : { YARN_HTTP_PROXY: proxy, YARN_HTTPS_PROXY: proxy }),
  };
}
