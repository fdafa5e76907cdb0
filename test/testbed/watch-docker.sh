#!/usr/bin/env bash
# Restarts the testbed's dockerd when it hangs: creating and removing networks at the same time can lock dockerd 20.10 for
# ever (its `processEndpointDelete` and `getSvcRecords` wait for each other), and then every later test would fail.
# Usage: watch-docker.sh, while the tests run; it runs until it is killed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for file in "$here"/{lib,daemons,parts/docker,parts/runsc}.sh; do
  . "$file"
done

# A child that outlived this script would keep its standard output open, and hold up any program that reads that to its end.
child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null || true; exit 143' TERM INT

# A signal that arrives while it runs is handled at once.
in_background() {
  "$@" &
  child=$!
  local code=0
  wait "$child" || code=$?
  child=
  return "$code"
}

# This request is held up by the lock of the networks; a busy machine takes seconds for it.
networks_answer() { in_background timeout 60 docker network ls -q >/dev/null 2>&1; }

start_anew() {
  local pid
  pid=$(daemon_pid dockerd) || return 0
  say "dockerd has not answered for two minutes; its stacks are in its log, and it is started anew"
  # dockerd writes them into its own folder, and their path into its log.
  kill -USR1 "$pid" && sleep 5 || true
  kill -KILL "$pid" || true
  wait_for 10 daemon_gone dockerd || true
  ! mountpoint -q "$testbed/docker/data" || umount "$testbed/docker/data" || true
  start_docker || say "$why"
}

while true; do
  in_background sleep 30
  networks_answer || networks_answer || start_anew
done
