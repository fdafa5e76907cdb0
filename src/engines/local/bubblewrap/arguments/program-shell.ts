import { baseFolders, firstShell } from "./sandbox-view.ts";

const prefix = "GLOVEBOX_VARIABLE_";

/**
 * A program's variables under names that mean nothing to anybody. All that is ours and runs before the program carries
 * them so: an `LD_PRELOAD` of a caller's would put its code into our processes.
 */
export function carriedVariables(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(environment);
  return Object.fromEntries(entries.map(([name, value], index) => [`${prefix}${index + 1}`, `${name}=${value}`]));
}

/** A name that shells do not know as one, or that is theirs alone, is left out. */
function restore(number: number): string {
  const name = `${prefix}${number}`;
  return `command export -- "$${name}" 2>/dev/null; unset ${name}`;
}

/**
 * What becomes the program: without capabilities by now, in the program's folder and with its streams, it gives the
 * variables their names back. What would keep the program from being started is told as shells do.
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
