import { ageUnknownMark, secondsOf, agedPipCommand, npmAgeOptions, type MinAge } from "./min-age.ts";
import type { RuntimeName } from "../languages/language-table.ts";
import { isolatedPython } from "../sandbox/sandbox-command.ts";
import { runsInterpretersOnly } from "../engines/capabilities.ts";
import { readPackagedScript } from "../base/packaged-script.ts";
import type { Ecosystem } from "../policy/install-policy.ts";
import { pythonLibraryFolder, pythonSetFolder, pythonStartFolder } from "./set-folder.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** What Bun's output has where it ran no install script at all. */
export const noScriptsMark = "glovebox: no install script runs";

export const noScriptsNote =
  "No install script of these runs: the image's Bun is older than 1.3.5, which trusts any package that bears a trusted name.";

/**
 * $1 the seconds, or nothing; $2 whether they are demanded; then the arguments of `bun add`. Bun trusts packages by
 * name, and one before 1.3.5 whatever the address that another package names for it (CVE-2026-24910).
 */
const script = `
age=$1 demanded=$2 scripts= young=
shift 2
trusts_by_origin() {
  set -f
  IFS=.-+
  set -- $1
  case "$1$2$3" in *[!0-9]*) return 1 ;; esac
  [ "$1" -gt 1 ] || { [ "$1" -eq 1 ] && { [ "$2" -gt 3 ] || { [ "$2" -eq 3 ] && [ "$3" -ge 5 ]; }; }; }
}
if ! (trusts_by_origin "$(bun --version)") 2>/dev/null; then
  echo "${noScriptsMark}"
  scripts=--ignore-scripts
fi
if [ -n "$age" ]; then
  case "$(bun add --help 2>&1)" in
  *--minimum-release-age*) young=--minimum-release-age=$age ;;
  *)
    if [ "$demanded" = yes ]; then echo "error: this bun cannot tell how long packages have been published" >&2; exit 1; fi
    echo "${ageUnknownMark}" ;;
  esac
fi
exec bun add $scripts $young "$@"`;

/** Argument vector of `bun add` that takes no younger versions, and runs scripts only of packages that Bun knows by their origin. */
export function bunCommand(options: readonly string[], age: MinAge | null): readonly string[] {
  const demanded = age?.isDemanded === true ? "yes" : "no";
  return ["sh", "-c", script, "sh", age === null ? "" : String(secondsOf(age)), demanded, ...options];
}

/** What installs: whichever of them the sandbox that will run the code has. */
export type PackageManager = "bun" | "npm" | "pip";

/** Where installed packages stand in the sandbox that uses them. */
export const packageFolders: Readonly<Record<Ecosystem, string>> = {
  // Node and Bun look there for whatever no folder nearer to the code has.
  npm: "/node_modules",
  python: pythonSetFolder,
};

/** Variables by which an ecosystem's programs find them. */
export const packageEnvironment: Readonly<Record<Ecosystem, Readonly<Record<string, string>>>> = {
  npm: {},
  python: { PYTHONPATH: pythonStartFolder },
};

/** Where they are installed, in the installer's own sandbox. */
export const installFolder = "/work/set";
const homeFolder = "/work/home";

/** The folder that is kept of it. */
const keptFolders: Readonly<Record<PackageManager, string>> = {
  bun: `${installFolder}/node_modules`,
  npm: `${installFolder}/node_modules`,
  pip: `${installFolder}/site-packages`,
};

/** The part of a sandbox that knows where its folders really are, and what runs in it. */
type InstallSandbox = Pick<Sandbox, "folderOf" | "capabilities">;

/**
 * Argument vector of an installation, which begins with the first line of its standard input. Bun runs the lifecycle scripts of those packages that it trusts
 * by its own list; npm has no such list, so none; pip takes wheels only, which have none (SPEC PK6). npm and pip start no
 * process at all: what a package names by an address would be built or prepared by its own code.
 */
export function installCommand(
  manager: PackageManager,
  specs: readonly string[],
  minAge: MinAge | null,
): readonly string[] {
  return ["sh", "-c", whenReady, "sh", installFolder, homeFolder, ...sealedCommand(manager, specs, minAge)];
}

/** The same on a host that seals nothing: without a shell, and without any lifecycle script (SPEC PK2). */
export function hostCommand(
  manager: PackageManager,
  specs: readonly string[],
  sandbox: Pick<InstallSandbox, "folderOf">,
  minAge: MinAge | null,
): readonly string[] {
  const [verb = "", ...rest] = toolArguments(manager, specs, (path) => sandbox.folderOf(path));
  const aged = minAge === null ? [] : [`--minimum-release-age=${secondsOf(minAge)}`];
  return [manager, verb, ...(manager === "bun" ? ["--ignore-scripts", ...aged] : []), ...rest];
}

/** $1 the folder, $2 another for all else; then what to run once the network is up, which a line on its input tells. */
const whenReady = `
read -r _ && mkdir -p "$1" "$2" && cd "$1" && echo '{"private":true}' >package.json || exit 125
shift 2
exec "$@" </dev/null`;

/** The folders alone, by the interpreter: a guard allows no shell. */
const prepareScripts = {
  python: "import os, sys\nfor folder in sys.argv[1:]: os.makedirs(folder)",
  node: `const fs = require("node:fs"), folders = process.argv.slice(-2);
for (const folder of folders) fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(folders[0] + "/package.json", '{"private":true}');`,
};

export function prepareCommand(interpreter: RuntimeName, sandbox: InstallSandbox): readonly string[] {
  const folders = [sandbox.folderOf(installFolder), sandbox.folderOf(homeFolder)];
  if (interpreter === "python") return ["python3", "-c", prepareScripts.python, ...folders];
  return [interpreter, "-e", prepareScripts.node, ...folders];
}

/** Variables of the installation: all that the tools keep beside the packages lies in the sandbox's own work folder. */
export function installEnvironment(sandbox: InstallSandbox): Readonly<Record<string, string>> {
  const home = sandbox.folderOf(homeFolder);
  return {
    HOME: home,
    TMPDIR: home,
    BUN_INSTALL_CACHE_DIR: `${home}/cache`,
    npm_config_cache: `${home}/cache`,
    npm_config_fetch_retries: "2",
    npm_config_fetch_retry_mintimeout: "1000",
    npm_config_fetch_retry_maxtimeout: "5000",
    PIP_RETRIES: "2",
    PIP_CONFIG_FILE: "/dev/null",
    PIP_ROOT_USER_ACTION: "ignore",
    // None of git's protocols is allowed: packages come from the registries, not from repositories.
    GIT_ALLOW_PROTOCOL: "none",
    // On a host they need no other program, and one that packages name by an address could be git.
    ...(runsInterpretersOnly(sandbox.capabilities) ? { PATH: `${home}/none` } : {}),
  };
}

/** Argument vector that writes what was installed to standard output, as `readPackage` reads it. */
export async function packCommand(
  manager: PackageManager,
  interpreter: RuntimeName,
  sandbox: InstallSandbox,
): Promise<readonly string[]> {
  const folder = sandbox.folderOf(keptFolders[manager]);
  if (manager !== "pip") return [interpreter, "-e", await readPacker("packer.cjs"), folder];
  return [...isolatedPython(sandbox.capabilities), "-c", await readPacker("packer.py"), folder, pythonLibraryFolder];
}

/** What the output of npm has where it would have started a process. */
export const noProcessMark = "glovebox: only packages of the registry are installed";

/**
 * Loaded before npm itself. npm prepares what a package names by a repository's address with an npm of its own in the clone, whose
 * `.npmrc` says which program is git: `--ignore-scripts` does not cover that. Without processes there is no git, no
 * such npm and no script.
 */
const npmWithoutProcesses = `
const refuse = () => { throw new Error("${noProcessMark}, and one of these would have to be cloned or prepared"); };
const children = require("child_process");
for (const name of ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"]) children[name] = refuse;
children.ChildProcess.prototype.spawn = refuse;
const { syncBuiltinESMExports } = require("module");
if (syncBuiltinESMExports) syncBuiltinESMExports();
require("fs").writeFileSync(__filename + ".loaded", "");
`;

/**
 * $1 the text, $2 a folder; then `npm install` and the rest. Its loading is not taken for granted: a Node without
 * NODE_OPTIONS, or another program of that name, installs nothing.
 */
const guarded = `
guard=$2/without-processes.cjs
printf %s "$1" >"$guard" || exit 125
shift 2
NODE_OPTIONS="--require=$guard" "$@"
code=$?
[ -e "$guard.loaded" ] && exit "$code"
echo "npm error this npm cannot be kept from starting programs of packages" >&2
exit 1`;

/** Argument vector of npm that starts no process; `home` is a folder of the sandbox without spaces in its name. */
export function npmCommand(command: readonly string[], home: string): readonly string[] {
  return ["sh", "-c", guarded, "sh", npmWithoutProcesses, home, ...command];
}

function sealedCommand(manager: PackageManager, specs: readonly string[], minAge: MinAge | null): readonly string[] {
  const [verb = "", ...options] = toolArguments(manager, specs);
  switch (manager) {
    case "bun":
      return bunCommand(options, minAge);
    case "npm":
      return npmCommand(["npm", verb, ...npmAgeOptions(minAge), ...options], homeFolder);
    case "pip":
      return agedPipCommand(options, minAge);
  }
}

function toolArguments(
  manager: PackageManager,
  specs: readonly string[],
  folderOf: (path: string) => string = (path) => path,
): readonly string[] {
  switch (manager) {
    case "bun":
      return ["add", "--no-progress", "--no-summary", "--linker", "hoisted", "--exact", "--", ...specs];
    case "npm":
      return ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--", ...specs];
    case "pip":
      return [
        ...["install", "--target", folderOf(keptFolders.pip), "--only-binary", ":all:", "--no-compile"],
        ...["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--", ...specs],
      ];
  }
}

async function readPacker(file: string): Promise<string> {
  return readPackagedScript(new URL(`../../images/packers/${file}`, import.meta.url));
}
