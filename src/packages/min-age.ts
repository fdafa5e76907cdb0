import { wheelsOnlyPip } from "../policy/install-policy.ts";

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

/** $1 the date, $2 whether it is demanded, $3 the pip that knows of it; then pip, in three words, `install` and the rest. */
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
case "$("$1" "$2" "$3" install --help 2>&1)" in
*--uploaded-prior-to*) pip=pip ;;
*)
  pip=
  echo "$pin" >"$HOME/pip.txt"
  "$1" "$2" "$3" download --quiet --no-deps --only-binary :all: --require-hashes --no-input --no-cache-dir \\
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

/** The words before pip's own arguments: a pip that starts no process. */
export const sealedPip = ["python3", "-c", wheelsOnlyPip] as const;

/** Argument vector of `pip install` that takes no younger versions, by pip's own option. */
export function agedPipCommand(options: readonly string[], age: MinAge | null): readonly string[] {
  const command = [...sealedPip, "install", ...options];
  if (age === null) return command;
  const [before, demanded] = [new Date(age.beforeMs).toISOString(), age.isDemanded ? "yes" : "no"];
  return ["sh", "-c", agedPip, "sh", before, demanded, pinnedPip, ...command];
}

/** npm's option for it; none where any age will do. */
export function npmAgeOptions(age: MinAge | null): readonly string[] {
  return age === null ? [] : [`--before=${new Date(age.beforeMs).toISOString()}`];
}
