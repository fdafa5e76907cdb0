/** How long versions must have been published to be installed. */
export interface MinAge {
  readonly ms: number;
  /** Milliseconds since the epoch: what was published later is not taken. */
  readonly beforeMs: number;
  /** Whether a tool or a registry that cannot tell is refused; else it is noted. */
  readonly isDemanded: boolean;
}

/** What the tool's output has where it installed without regard to age. */
export const ageUnknownMark = "glovebox: the age of packages is unknown";

export const ageUnknownNote =
  "packages.min_age is not enforced for these: the image's package manager or the registry cannot tell how long they have been published.";

/** The oldest pip that knows of ages, for images whose own does not: it installs and is not kept. */
const pinnedPip = "pip==26.0.1 --hash=sha256:bdb1b08f4274833d62c1aa29e20907365a2ceb950410df15fc9521bad440122b";

/** $1 the seconds, $2 whether they are demanded; then `bun add` and the rest. */
const agedBun = `
age=$1 demanded=$2
shift 2
case "$(bun add --help 2>&1)" in
*--minimum-release-age*) shift 2 && exec bun add "--minimum-release-age=$age" "$@" ;;
esac
if [ "$demanded" = yes ]; then echo "error: this bun cannot tell how long packages have been published" >&2; exit 1; fi
echo "${ageUnknownMark}"
exec "$@"`;

/** $1 the date, $2 whether it is demanded, $3 the pip that knows of it; then `python3 -m pip install` and the rest. */
const agedPip = `
before=$1 demanded=$2 pin=$3
shift 3
install() {
  PIP_LOG="$HOME/pip.log" "$@" 2>"$HOME/errors"
  code=$?
  cat "$HOME/errors" >&2
  [ "$code" != 0 ] || return 0
  # An index that does not answer is to pip one that has nothing; its log alone tells.
  while IFS= read -r line; do
    case "$line" in *"Could not fetch URL"*) echo "$line" >&2 && break ;; esac
  done <"$HOME/pip.log"
}
case "$(python3 -m pip install --help 2>&1)" in
*--uploaded-prior-to*) pip=pip ;;
*)
  pip=
  echo "$pin" >"$HOME/pip.txt"
  python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes --no-input --no-cache-dir \\
    --disable-pip-version-check --dest "$HOME/pip" --requirement "$HOME/pip.txt" >/dev/null 2>&1 &&
    pip=pip PYTHONPATH="$(echo "$HOME"/pip/*.whl)" && export PYTHONPATH ;;
esac
if [ "$pip" = pip ]; then
  export PIP_UPLOADED_PRIOR_TO="$before"
  install "$@"
  unset PYTHONPATH PIP_UPLOADED_PRIOR_TO
  case "$(cat "$HOME/errors")" in
  *"does not provide upload-time"*) ;;
  *) exit "$code" ;;
  esac
fi
if [ "$demanded" = yes ]; then
  echo "ERROR: this pip or its index cannot tell how long packages have been published" >&2
  exit 1
fi
echo "${ageUnknownMark}"
install "$@"
exit "$code"`;

export function secondsOf({ ms }: MinAge): number {
  return Math.ceil(ms / 1000);
}

/** For pip, which takes its options from there, too; one that does not know of it goes by none. */
export function ageVariables({ beforeMs }: MinAge): Readonly<Record<string, string>> {
  return { PIP_UPLOADED_PRIOR_TO: new Date(beforeMs).toISOString() };
}

/**
 * Argument vector of an installation that takes no younger versions, by the tool's own option; `command` is `npm`, `bun` or Python's pip, its
 * verb and the rest.
 */
export function agedCommand(command: readonly string[], age: MinAge | null): readonly string[] {
  if (age === null) return command;
  const [before, demanded] = [new Date(age.beforeMs).toISOString(), age.isDemanded ? "yes" : "no"];
  const [tool = "", verb = "", ...rest] = command;
  switch (tool) {
    case "npm":
      return [tool, verb, `--before=${before}`, ...rest];
    case "bun":
      return ["sh", "-c", agedBun, "sh", String(secondsOf(age)), demanded, ...command];
    default:
      return ["sh", "-c", agedPip, "sh", before, demanded, pinnedPip, ...command];
  }
}
