#!/usr/bin/env bash
# Starts the testbed's dockerd anew when it hangs: networks that are made and removed side by side can lock dockerd 20.10 for
# ever (its `processEndpointDelete` and `getSvcRecords` wait for each other), and every test after that would fail with it.
# Usage: watch-docker.sh, beside the tests; it ends when it is killed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for file in "$here"/{lib,daemons,parts/docker,parts/runsc}.sh; do
  . "$file"
done

# A child that outlived this script would keep its standard output open, and with it whoever reads that to its end.
child=
trap '[ -z "$child" ] || kill "$child" 2>/dev/null || true; exit 143' TERM INT

# A signal that comes while it runs is heard at once.
in_background() {
  "$@" &
  child=$!
  local code=0
  wait "$child" || code=$?
  child=
  return "$code"
}

# What the lock of its networks holds up; a busy machine takes seconds for it.
networks_answer() { in_background timeout 60 docker network ls -q >/dev/null 2>&1; }

start_anew() {
  local pid
  pid=$(daemon_pid dockerd) || return 0
  say "dockerd has not answered for two minutes; its stacks are in its log, and it is started anew"
  # Writes them into its own folder, and their place into its log.
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
