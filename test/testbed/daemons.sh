# shellcheck shell=bash
# Sourced by up.sh and down.sh: starts, records and ends daemons that outlive the script.

# A process id alone may belong to another process by now, or by the next boot.
process_stamp() {
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return
  # The command name may contain spaces and brackets, so count from the last bracket.
  read -ra fields <<<"${stat##*) }"
  [ "${fields[0]}" != Z ] || return
  echo "${fields[19]} $(cat /proc/sys/kernel/random/boot_id)"
}

record_daemon() { echo "$2 $(process_stamp "$2")" >"$testbed/run/$1.pid"; }

# Prints the process id of a daemon that we started and that is still running.
daemon_pid() {
  local file=$testbed/run/$1.pid pid stamp
  [ -f "$file" ] || return
  read -r pid stamp <"$file" || return
  [ -n "$stamp" ] && [ "$(process_stamp "$pid")" = "$stamp" ] || return
  echo "$pid"
}

start_daemon() {
  local name=$1 log=$testbed/logs/$1.log
  shift
  [ ! -f "$log" ] || mv "$log" "$log.old"
  # The lock's descriptor is closed: an inherited one would hold the lock as long as the daemon runs.
  (cd / && exec setsid nohup "$@" </dev/null >"$log" 2>&1 9>&-) &
  record_daemon "$name" $!
}

daemon_gone() { ! daemon_pid "$1" >/dev/null; }
answers_or_gone() { "$2" || daemon_gone "$1"; }

# Waits until CHECK succeeds; stops early when the daemon ends.
await_daemon() {
  local name=$1 seconds=$2 check=$3
  wait_for "$seconds" answers_or_gone "$name" "$check"
  "$check" || fail "$name does not answer: $(tail -n 1 "$testbed/logs/$name.log" 2>/dev/null | cut -c1-160)"
}

stop_daemon() {
  local name=$1 pid
  if pid=$(daemon_pid "$name"); then
    kill -TERM "$pid" 2>/dev/null || true
    if ! wait_for 30 daemon_gone "$name"; then
      kill -KILL "$pid" 2>/dev/null || true
      wait_for 5 daemon_gone "$name" || true
    fi
  fi
  rm -f "$testbed/run/$name.pid"
}
