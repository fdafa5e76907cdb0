#!/usr/bin/env bash
# Stops what up.sh started, and only that. Images and caches are kept for the next time.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for file in "$here"/{lib,daemons,parts/podman,parts/rootless}.sh; do
  . "$file"
done

# Engines filter only by whole label names, but here any name below `glovebox.` counts.
remove_containers() {
  local cli=$1 ids force=(rm -f)
  # Podman's rm waits ten seconds for a graceful end.
  [ "$cli" != podman ] || force+=(-t 0)
  mapfile -t ids < <(timeout 30 "$cli" ps -a --format '{{.ID}} {{.Labels}}' | sed -nE 's/^([0-9a-f]+) (.*,|map\[(.* )?)?glovebox\..*/\1/p')
  [ ${#ids[@]} -gt 0 ] || return 0
  echo "removing ${#ids[@]} containers from $cli"
  timeout 60 "$cli" "${force[@]}" "${ids[@]}" >/dev/null
}

down() {
  local name=$1 cli=${2:-}
  if daemon_pid "$name" >/dev/null; then
    if [ -n "$cli" ]; then remove_containers "$cli" || say "some containers of $cli remain"; fi
    echo "stopping $name"
  fi
  stop_daemon "$name"
}

main() {
  [ -d "$testbed" ] || exit 0
  open_state || { say "$why" && exit 1; }
  export CONTAINERS_CONF=$testbed/podman/containers.conf
  DOCKER_HOST=$default_docker_host
  if [ -d "$testbed/kubernetes" ]; then
    ! is_root || "$here/kubernetes/down.sh" "$testbed/kubernetes" || say "some parts of the cluster remain"
  fi
  down registry
  down podman podman
  down rootless
  end_rootless_pause
  ! is_root || forbid_podman_bridges
  down dockerd docker
  # A killed dockerd leaves its store mounted on itself, so that the folder cannot be deleted.
  if mountpoint -q "$testbed/docker/data"; then umount "$testbed/docker/data" || true; fi
  rm -f "$testbed/env" "$testbed/run/podman.socket"
}

main "$@"
