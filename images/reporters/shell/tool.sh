#!/bin/sh
# Comes before `go`, `cargo` and other tools of `tools` on the PATH of a test command. Their test runs are shown as they go, and a copy of their
# standard output is signed: with a key of this shell, over what came through its own pipe and not over the file.
tool=${0##*/}
folder=$GLOVEBOX_TEST_REPORTS
PATH=$(printf %s ":$PATH:" | sed "s#:$folder/bin:#:#g; s/^://; s/:\$//")
real=$(command -v "$tool") || exit 127

# The subcommand: the first word that is not an option, a toolchain (`+nightly`) or a folder (`-C`).
subcommand() {
  while [ $# -gt 0 ]; do
    case $1 in
      -C) [ $# -gt 1 ] && shift ;;
      -* | +*) ;;
      *) printf %s "$1"; return ;;
    esac
    shift
  done
}
hash() {
  set -- $(printf %s "$1" | sha256sum)
  printf %s "$1"
}

case "
$(cat "$folder/tools" 2>/dev/null)
" in
  *"
$tool $(subcommand "$@")
"*) ;;
  *) exec "$real" "$@" ;;
esac
# Prints a variable's value ($1) without our part of it ($2).
without() {
  case $1 in
    "$2") ;;
    "$2"[\ :]*) printf %s "${1#"$2"?}" ;;
    *[\ :]"$2") printf %s "${1%?"$2"}" ;;
    *[\ :]"$2"[\ :]*) printf %s "${1%%"$2"*}${1#*"$2"?}" ;;
    *) printf %s "$1" ;;
  esac
}
NODE_OPTIONS=$(without "${NODE_OPTIONS-}" "${GLOVEBOX_NODE_OPTIONS-}")
BUN_OPTIONS=$(without "${BUN_OPTIONS-}" "${GLOVEBOX_BUN_OPTIONS-}")
PYTHONPATH=$(without "${PYTHONPATH-}" "$folder/python")
[ -n "$NODE_OPTIONS" ] || unset NODE_OPTIONS
[ -n "$BUN_OPTIONS" ] || unset BUN_OPTIONS
[ -n "$PYTHONPATH" ] || unset PYTHONPATH
unset GLOVEBOX_NODE_OPTIONS GLOVEBOX_BUN_OPTIONS
only_go=${GLOVEBOX_TEST_ONLY_GO-} only_cargo=${GLOVEBOX_TEST_ONLY_CARGO-}
unset GLOVEBOX_TEST_REPORTS GLOVEBOX_TEST_ONLY GLOVEBOX_TEST_ONLY_GO GLOVEBOX_TEST_ONLY_CARGO
seed=$(cat "$folder/shell-seed" 2>/dev/null)
[ -n "$seed" ] && [ -n "$(hash x)" ] || exec "$real" "$@"
hash "next $seed" >"$folder/shell-seed"
key=$(hash "key $tool $seed")
mark=$(hash "mark $seed")
name=$(hash "name $tool $seed")
report=$folder/$(printf %.32s "$name")
printf '{"runner":"%s"}' "$tool" >"$report.started"

# Not every sed can pass on lines at once.
unbuffered=-u
sed -u -n '' </dev/null 2>/dev/null || unbuffered=

run() {
  if [ "$tool" = go ]; then
    module=$("$real" list -m 2>/dev/null | head -n 1)
    printf '%s\t%s\n' "$module" "$PWD"
    # Go expects this option right after its subcommand, and the folder before it.
    before=
    if [ "$1" = -C ]; then
      before=$2
      shift 2
    fi
    shift
    # `-v` beside `-json` takes away the marks by which Go finds a result behind a line without a line feed.
    left=$# own=
    while [ "$left" -gt 0 ]; do
      word=$1
      shift
      left=$((left - 1))
      case $own$word in
        -v | --v | -v=* | --v=* | -test.v | -test.v=*) ;;
        -args | --args)
          own=yes
          set -- "$@" "$word"
          ;;
        *) set -- "$@" "$word" ;;
      esac
    done
    set -- ${before:+-C "$before"} test -json ${only_go:+"-run=$only_go"} "$@"
  elif [ "$tool" = cargo ] && [ -n "$only_cargo" ]; then
    case " $* " in *" -- "*) set -- "$@" --exact ;; *) set -- "$@" -- --exact ;; esac
    while IFS= read -r name; do set -- "$@" "$name"; done <<END
$only_cargo
END
  fi
  "$real" "$@" 3>&- 4>&- 5>&-
}

# What people see of Go's events: what `go test` prints, without the lines that frame each test unless they are requested.
as_text() {
  verbose=0
  for word in "$@"; do
    case $word in
      -json | --json) exec sed '1d' ;;
      -v | --v | -v=* | -test.v | -test.v=*) verbose=1 ;;
      -args | --args) break ;;
    esac
  done
  exec awk -v verbose=$verbose '
    NR == 1 { next }
    match($0, /"Output":"([^"\\]|\\.)*"/) {
      text = substr($0, RSTART + 10, RLENGTH - 11)
      if (!verbose && text ~ /^(=== (RUN|PAUSE|CONT|NAME)|( )*--- (PASS|SKIP))/) next
      gsub(/\\\\/, "\001", text)
      gsub(/\\n/, "\n", text); gsub(/\\t/, "\t", text); gsub(/\\r/, "\r", text); gsub(/\\"/, "\"", text)
      gsub(/\\u003c/, "<", text); gsub(/\\u003e/, ">", text); gsub(/\\u0026/, "\\&", text); gsub(/\\u001b/, "\033", text)
      gsub(/\001/, "\\\\", text)
      printf "%s", text; fflush()
      next
    }
    !/^\{/ { print; fflush() }'
}

show() {
  if [ "$tool" = go ]; then as_text "$@"; else exec cat; fi
}

# Descriptors: 3 is the standard output, 4 goes to people, 5 receives the exit code. The mark ends the pipe, since
# something that the tests left running may hold it open.
exec 3>&1
status=$(
  exec 5>&1
  {
    inner=$(
      {
        run "$@"
        code=$?
        echo "$code" >&5
        printf '%s %s\n' "$mark" "$code"
      } | sed $unbuffered "/$mark [0-9]*\$/q" | tee "$report.body" /dev/fd/4 | {
        printf %s "$key"
        cat
      } | sha256sum
    )
    signature=$(hash "$key${inner%% *}")
    {
      printf '%s\n' "$signature"
      cat "$report.body"
    } >"$report.part"
    rm -f "$report.body"
    mv "$report.part" "$report"
  } 4>&1 >/dev/null | sed $unbuffered "/^$mark [0-9]*\$/d; s/$mark [0-9]*\$//" | show "$@" >&3
)
exit "${status:-1}"
