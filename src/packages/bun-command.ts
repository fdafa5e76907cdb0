import { ageUnknownMark, secondsOf, type MinAge } from "./min-age.ts";

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
