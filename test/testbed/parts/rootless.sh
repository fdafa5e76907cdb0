# shellcheck shell=bash
# Podman's service as an ordinary user: with control groups version 1, or without systemd, it cannot set limits.

rootless_user=glovebox-testbed

packages_rootless() {
  have podman || echo podman
  have runc || echo runc
  have newuidmap || echo uidmap
  have setpriv || echo util-linux
}

rootless_home() { echo "$testbed/rootless"; }
rootless_socket() { echo "$(rootless_home)/run/podman.sock"; }
rootless_answers() { http_get "$(rootless_socket)" /_ping >/dev/null; }

# Ids that no user of the machine has; Podman wants as many as an image may name.
make_rootless_user() {
  id "$rootless_user" >/dev/null 2>&1 || useradd --system --no-create-home --shell /bin/sh "$rootless_user" || return
  grep -q "^$rootless_user:" /etc/subuid || usermod --add-subuids 1879048192-1879113727 "$rootless_user" || return
  grep -q "^$rootless_user:" /etc/subgid || usermod --add-subgids 1879048192-1879113727 "$rootless_user"
}

rootless_conf() {
  cat <<'TOML'
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
TOML
}

start_rootless() {
  local home socket
  home=$(rootless_home)
  socket=$(rootless_socket)
  make_rootless_user || fail "cannot make the user $rootless_user" || return
  mkdir -p "$home/run" || return
  rootless_conf >"$home/containers.conf"
  chown -R "$rootless_user:" "$home"
  chmod 700 "$home" "$home/run"
  rm -f "$socket"
  # setpriv becomes the service: the recorded process id is that of the service itself.
  start_daemon rootless setpriv --reuid "$rootless_user" --regid "$rootless_user" --clear-groups env -i \
    PATH="$PATH" HOME="$home" XDG_RUNTIME_DIR="$home/run" CONTAINERS_CONF="$home/containers.conf" \
    podman system service --time 0 "unix://$socket"
  await_daemon rootless 60 rootless_answers
}

# Podman leaves a process behind that keeps its user namespace open.
end_rootless_pause() {
  local file pid
  file=$(rootless_home)/run/libpod/tmp/pause.pid
  pid=$(cat "$file" 2>/dev/null) || return 0
  case $(cat "/proc/$pid/comm" 2>/dev/null) in
    podman* | catatonit) kill -KILL "$pid" 2>/dev/null || true ;;
  esac
  rm -f "$file"
}

up_rootless() {
  is_root || fail "only root can make the user for it" || return
  have podman && have newuidmap && have setpriv || fail "podman, uidmap or util-linux is not installed" || return
  state=running
  if ! daemon_pid rootless >/dev/null || ! rootless_answers; then
    stop_daemon rootless
    start_rootless || return
    state=started
  fi
  version=$(podman --version | cut -d' ' -f3)
}
