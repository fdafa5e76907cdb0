import { readFile } from "node:fs/promises";
import type { ForwarderInterpreter } from "../egress/forwarder.ts";
import type { Ecosystem } from "../policy/package-specs.ts";

/** What installs: whichever of them the sandbox that will run the code has. */
export type PackageManager = "bun" | "npm" | "pip";

/** Where installed packages stand in the sandbox that uses them. */
export const packageFolders: Readonly<Record<Ecosystem, string>> = {
  // Node and Bun look there for whatever no folder nearer to the code has.
  npm: "/node_modules",
  python: "/site-packages",
};

/** Where they are installed, in the installer's own sandbox. */
const installFolder = "/work/set";
const homeFolder = "/work/home";

/** The folder that is kept of it. */
const keptFolders: Readonly<Record<PackageManager, string>> = {
  bun: `${installFolder}/node_modules`,
  npm: `${installFolder}/node_modules`,
  pip: `${installFolder}/site-packages`,
};

/**
 * Argument vector of an installation, which begins with the first line of its standard input. Bun runs the lifecycle scripts of those packages that it trusts
 * by its own list; npm has no such list, so none; pip takes wheels only, which have none (SPEC PK6).
 */
export function installCommand(manager: PackageManager, specs: readonly string[]): readonly string[] {
  return ["sh", "-c", whenReady, "sh", installFolder, homeFolder, ...toolCommand(manager, specs)];
}

function toolCommand(manager: PackageManager, specs: readonly string[]): readonly string[] {
  switch (manager) {
    case "bun":
      return ["bun", "add", "--no-progress", "--no-summary", "--linker", "hoisted", "--exact", "--", ...specs];
    case "npm":
      return ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--", ...specs];
    case "pip":
      return [
        ...["python3", "-m", "pip", "install", "--target", keptFolders.pip, "--only-binary", ":all:", "--no-compile"],
        ...["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--", ...specs],
      ];
  }
}

/** $1 the folder, $2 another for all else; then what to run once the network is up, which a line on its input tells. */
const whenReady = `
read -r _ && mkdir -p "$1" "$2" && cd "$1" && echo '{"private":true}' >package.json || exit 125
shift 2
exec "$@" </dev/null`;

/** Variables of the installation: all that the tools keep beside the packages lies in the sandbox's own work folder. */
export const installEnvironment: Readonly<Record<string, string>> = {
  HOME: homeFolder,
  TMPDIR: homeFolder,
  BUN_INSTALL_CACHE_DIR: `${homeFolder}/cache`,
  npm_config_cache: `${homeFolder}/cache`,
  npm_config_fetch_retries: "2",
  npm_config_fetch_retry_mintimeout: "1000",
  npm_config_fetch_retry_maxtimeout: "5000",
  PIP_RETRIES: "2",
  PIP_CONFIG_FILE: "/dev/null",
  PIP_ROOT_USER_ACTION: "ignore",
};

/** Argument vector that writes what was installed to standard output, as `readPackage` reads it. */
export async function packCommand(
  manager: PackageManager,
  interpreter: ForwarderInterpreter,
): Promise<readonly string[]> {
  const folder = keptFolders[manager];
  if (manager === "pip") return ["python3", "-I", "-c", await readPacker("packer.py"), folder, packageFolders.python];
  return [interpreter, "-e", await readPacker("packer.cjs"), folder];
}

async function readPacker(file: string): Promise<string> {
  return readFile(new URL(`../../images/packers/${file}`, import.meta.url), "utf8");
}
