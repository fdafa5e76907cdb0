/** Name of the variable that tells what one concurrent exec has started from what others have. */
export const markVariable = "GLOVEBOX_EXEC";

/** Exit codes of the script: whether it found any process to signal (with KILL: whether any withstood it). */
export const killScriptCodes = { none: 0, some: 3 } as const;

export interface KillTarget {
  readonly signal: "TERM" | "KILL";
  /**
   * Numbers of the first processes of all that is spared. None: everything of the user is meant, and one call of the
   * kernel's reaches it all at once.
   */
  readonly spared: readonly number[];
  /** First process of the victim: what belongs to it is meant, whatever mark it carries. Null: it has ended. */
  readonly victim: number | null;
  /** Marks of all that is spared. */
  readonly marks: readonly string[];
}

/**
 * Signals processes of its own user, never itself. With KILL it looks until they are gone, for 2 s or so; what ends
 * while it looks may have left another behind, so that it looks once more.
 *
 * Where some are spared it first stops all of them at once, so that nothing can run from the sorting (a fork bomb is as
 * still as the rest), and lets go on what is left. Belonging goes by descent and then by session, neither of which a
 * process can choose; only what has cut itself off from both is asked for its mark.
 *
 * All but its pauses is built into every `sh`: it also works when no more process can be started.
 */
const killScript = `
signal=$1 spared=$2 victim=$3
shift 3

# Sets list: NUMBER:PARENT:SESSION of each process of ours that is alive; moved when one ended under the eyes.
look() {
  list= moved=
  for folder in /proc/[0-9]*; do
    number=\${folder#/proc/} line=
    case $number in 1 | $$) continue ;; esac
    kill -0 "$number" 2>/dev/null || {
      [ -d "$folder" ] || moved=1
      continue
    }
    { IFS= read -r line <"$folder/stat"; } 2>/dev/null || moved=1
    enter "$number" \${line##*) }
  done
}

enter() {
  case $2 in '' | Z | X) ;; *) list="$list $1:$3:$5" ;; esac
}

# Moves from list to members what descends from the processes $1 and, unless $2 is set, what shares a session with them.
gather() {
  known=" $1 " sessions=' ' members= grown=1
  while [ -n "$grown" ]; do
    grown= rest=
    for entry in $list; do
      number=\${entry%%:*} session=\${entry##*:}
      parent=\${entry#*:} parent=\${parent%:*}
      case "$known/$sessions" in
        *" $number "*/* | *" $parent "*/* | */*" $session "*)
          grown=1 known="$known$number " members="$members $number"
          [ -n "$2" ] || sessions="$sessions$session "
          ;;
        *) rest="$rest $entry" ;;
      esac
    done
    list=$rest
  done
}

# Whether the environment of process $1 has one of the marks that follow.
marked() {
  environ=/proc/$1/environ
  shift
  {
    while IFS= read -r line || [ -n "$line" ]; do
      for mark; do
        case $line in *"${markVariable}=$mark"*) return 0 ;; esac
      done
    done <"$environ"
  } 2>/dev/null
  return 1
}

# Sets list to what is meant.
sort_out() {
  gather "$victim"
  doomed=$members
  gather "$spared"
  seeds=
  for entry in $list; do
    marked "\${entry%%:*}" "$@" && seeds="$seeds \${entry%%:*}"
  done
  gather "$seeds" descent-only
  list="$doomed $list"
}

once() {
  if [ -z "$spared" ]; then
    [ "$signal" = KILL ] || look
    kill "-$signal" -1 2>/dev/null
    [ "$signal" != KILL ] || look
  else
    kill -STOP -1 2>/dev/null
    look
    sort_out "$@"
    for entry in $list; do
      kill "-$signal" "\${entry%%:*}" 2>/dev/null
    done
    kill -CONT -1 2>/dev/null
  fi
  case $list$moved in *[0-9]*) return ${killScriptCodes.some} ;; esac
}

once "$@" && exit ${killScriptCodes.none}
[ "$signal" = KILL ] || exit ${killScriptCodes.some}
for pass in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  once "$@" && exit ${killScriptCodes.none}
  sleep 0.1 2>/dev/null
done
exit ${killScriptCodes.some}
`;

/** Program and arguments of the killer; it runs as the user of its victims. */
export function killCommand({ signal, spared, victim, marks }: KillTarget): readonly string[] {
  return ["sh", "-c", killScript, "killer", signal, spared.join(" "), String(victim ?? ""), ...marks];
}
