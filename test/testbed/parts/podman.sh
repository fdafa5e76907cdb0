# shellcheck shell=bash

# Without these recommended packages podman has no init process, and no name resolution in its networks.
packages_podman() {
  have podman || echo podman
  have runc || echo runc
  have iptables || echo iptables
  have catatonit || echo catatonit
  [ -x /usr/lib/podman/netavark ] || echo netavark
  [ -x /usr/lib/podman/aardvark-dns ] || echo aardvark-dns
}

# The default place, unless a service already answers there: it may lack the settings that this machine needs.
choose_podman_socket() {
  local socket=/run/podman/podman.sock
  if ! is_root || http_get "$socket" /_ping >/dev/null; then socket=$testbed/podman/podman.sock; fi
  echo "$socket" >"$testbed/run/podman.socket"
}

podman_socket() { cat "$testbed/run/podman.socket" 2>/dev/null; }
podman_answers() { http_get "$(podman_socket)" /_ping >/dev/null; }

containers_conf() {
  cat <<'TOML'
# Raising limits is forbidden on the test machine, and crun refuses its hybrid control groups.
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=8192:8192"]

[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
# Seconds for which the helper processes of an exec outlive it; the tests make many.
exit_command_delay = 30
TOML
  [ ! -x /usr/lib/podman/netavark ] || printf '\n[network]\nnetwork_backend = "netavark"\n'
}

# The test registry speaks plain HTTP.
registries_conf() { printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "$registry_address"; }

# Fails when nothing changed.
write_podman_config() {
  local folder=$testbed/podman
  mkdir -p "$folder"
  containers_conf >"$folder/containers.conf.new"
  registries_conf >"$folder/registries.conf.new"
  ! cmp -s "$folder/containers.conf.new" "$folder/containers.conf" ||
    ! cmp -s "$folder/registries.conf.new" "$folder/registries.conf" || { rm "$folder"/*.new && return 1; }
  mv "$folder/containers.conf.new" "$folder/containers.conf"
  mv "$folder/registries.conf.new" "$folder/registries.conf"
}

# Docker makes the kernel drop what it forwards, bridged frames included, and podman allows its networks
# except the internal ones: there, containers would not reach each other.
podman_bridge_rule=(FORWARD -i podman+ -m physdev --physdev-is-bridged -j ACCEPT)

allow_podman_bridges() {
  iptables -C "${podman_bridge_rule[@]}" 2>/dev/null || iptables -I "${podman_bridge_rule[@]}" 2>/dev/null ||
    say "no iptables rule for podman's internal networks: their containers may not reach each other"
}

forbid_podman_bridges() { iptables -D "${podman_bridge_rule[@]}" 2>/dev/null || true; }

# Podman detects a restart of the machine by the loss of this file, but /run may be a folder on disk.
clear_stale_podman() {
  local alive=/run/libpod/alive booted
  booted=$(sed -n 's/^btime //p' /proc/stat)
  [ ! -f "$alive" ] || [ "$(stat -c %Y "$alive")" -ge "$booted" ] || rm -f "$alive"
}

start_podman() {
  local socket
  have podman || fail "podman is not installed" || return
  have runc || fail "runc is not installed" || return
  socket=$(podman_socket)
  mkdir -p "${socket%/*}" || fail "cannot create ${socket%/*}" || return
  ! is_root || clear_stale_podman
  rm -f "$socket"
  start_daemon podman podman system service --time 0 "unix://$socket"
  await_daemon podman 60 podman_answers
}

up_podman() {
  ! write_podman_config || stop_daemon podman
  export CONTAINERS_CONF=$testbed/podman/containers.conf CONTAINERS_REGISTRIES_CONF=$testbed/podman/registries.conf
  state=running
  if ! daemon_pid podman >/dev/null || ! podman_answers; then
    stop_daemon podman
    choose_podman_socket
    start_podman || return
    state=started
  fi
  ! is_root || allow_podman_bridges
  version=$(podman --version | cut -d' ' -f3)
}
