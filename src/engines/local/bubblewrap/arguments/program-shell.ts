import { baseFolders, firstShell } from "./sandbox-view.ts";

const prefix = "GLOVEBOX_VARIABLE_";

/**
 * A program's variables under neutral names. Everything of ours that runs before the program carries them this way: a
 * caller's `LD_PRELOAD` would otherwise load its code into our processes.
 */
export function carriedVariables(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(environment);
  return Object.fromEntries(entries.map(([name, value], index) => [`${prefix}${index + 1}`, `${name}=${value}`]));
}

/** Names that are invalid in shells, or reserved by them, are left out. */
function restore(number: number): string {
  const name = `${prefix}${number}`;
  return `command export -- "$${name}" 2>/dev/null; unset ${name}`;
}

/**
 * What becomes the program: already without capabilities, in the program's folder and with its streams, it restores the
 * names of the variables. Reasons for which the program cannot be started are reported as shells report them.
 */
function scriptFor(variables: number): string {
  return `
refuse() { echo "$2" >&2; exit "$1"; }
unset PWD OLDPWD SHLVL
${Array.from({ length: variables }, (_, index) => restore(index + 1)).join("\n")}
case $1 in
*/*)
  [ -e "$1" ] || refuse 127 "$1: not found"
  [ -f "$1" ] && [ -x "$1" ] || refuse 126 "$1: not an executable file"
  ;;
*) command -v -- "$1" >/dev/null || refuse 127 "$1: not found" ;;
esac
exec "$@"
`;
}

/** Words before a program's own that give it its variables, as many as were carried. */
export function programShell(variables: number): readonly string[] {
  return [`${baseFolders.opt}/${firstShell}`, "-c", scriptFor(variables), "sh"];
}
