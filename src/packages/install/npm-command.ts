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
