#!/usr/bin/env bash
# Installs and starts the real engines for the tests. Usage: up.sh [--require] [PART...]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for file in "$here"/{lib,daemons,packages,rootfs,images}.sh "$here"/parts/*.sh; do
  . "$file"
done

usual_parts=(local docker runsc podman rootless registry postgres redis chromium clock)
all_parts=("${usual_parts[@]}" kubernetes)
parts=()
require=0
table=()
missing=0

usage() {
  echo "usage: up.sh [--require] [PART...]   parts: ${all_parts[*]} (default: all but kubernetes)"
  echo "  --require   exit 1 when a requested part is missing"
}

wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }
want() { wanted "$1" || parts+=("$1"); }

read_arguments() {
  local argument
  for argument in "$@"; do
    case $argument in
      --require) require=1 ;;
      -h | --help) usage && exit 0 ;;
      *)
        [[ " ${all_parts[*]} " == *" $argument "* ]] || { usage >&2 && exit 2; }
        want "$argument"
        ;;
    esac
  done
  [ ${#parts[@]} -gt 0 ] || parts=("${usual_parts[@]}")
  # gVisor is a runtime of Docker, and the registry and a cluster's node are filled from Docker.
  if wanted runsc || wanted registry || wanted kubernetes; then want docker; fi
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }
seconds_since() { awk -v ms=$(($(now_ms) - $1)) 'BEGIN { printf "%.1f", ms / 1000 }'; }

row() { table+=("$(printf '%-9s %-28s %-11s %7s  %s' "$1" "$2" "$3" "$4" "${5:-}")"); }

# Runs one step and keeps its row for the table; a step that fails does not stop the others.
step() {
  local name=$1 begin
  shift
  begin=$(now_ms)
  version=- state=- why=
  if "$@"; then
    row "$name" "$version" "$state" "$(seconds_since "$begin")"
  else
    row "$name" - missing "$(seconds_since "$begin")" "$why"
    missing=1
    return 1
  fi
}

needed_packages() {
  local part
  for part in "${parts[@]}"; do "packages_$part"; done
  if with_images && [ -n "$(rootfs_missing)" ] && ! have mmdebstrap; then echo mmdebstrap; fi
}

with_images() { wanted docker || wanted podman; }

install_packages() {
  local packages
  mapfile -t packages < <(needed_packages | sort -u)
  if [ ${#packages[@]} -eq 0 ]; then return; fi
  installable || { say "not installed and not installable here: ${packages[*]}" && return; }
  apt_install "${packages[@]}"
}

up_images() {
  local cli=$1
  load_images "$cli" || return
  if [ "$cli" = podman ]; then
    local name paths=()
    for name in "${images[@]}"; do paths+=("/images/$(image_name "$name")/json"); done
    http_get "$(podman_socket)" "${paths[@]}" >/dev/null || fail "the podman service does not find the images" || return
  fi
  version=$(printf '%s ' "${images[@]}")
  state=loaded
}

up_pushed() {
  push_images || return
  version=$(printf '%s ' "${images[@]}")
  state=pushed
}

up_parts() {
  local part
  for part in "${all_parts[@]}"; do
    wanted "$part" || continue
    if ! step "$part" "up_$part"; then continue; fi
    case $part in
      docker | podman) step " images" up_images "$part" || true ;;
      registry) step " images" up_pushed || true ;;
    esac
  done
}

# Prints what is running now, whichever parts this run was asked for.
write_environment() {
  local name variable
  {
    [ "$DOCKER_HOST" = "$default_docker_host" ] || printf 'export DOCKER_HOST=%q\n' "$DOCKER_HOST"
    if daemon_pid podman >/dev/null; then
      printf 'export GLOVEBOX_TEST_PODMAN_SOCKET=%q\n' "$(podman_socket)"
      printf 'export CONTAINERS_CONF=%q\n' "$testbed/podman/containers.conf"
      printf 'export CONTAINERS_REGISTRIES_CONF=%q\n' "$testbed/podman/registries.conf"
    fi
    if daemon_pid rootless >/dev/null; then
      printf 'export GLOVEBOX_TEST_ROOTLESS_SOCKET=%q\n' "$(rootless_socket)"
    fi
    if [ -e "$kubernetes_state/run/kubelet.pid" ] && [ -f "$kubernetes_state/env" ]; then cat "$kubernetes_state/env"; fi
    if registry_answers; then printf 'export GLOVEBOX_TEST_REGISTRY=%q\n' "$registry_address"; fi
    for name in "${images[@]}"; do
      variable=GLOVEBOX_TEST_IMAGE_${name^^}
      printf 'export %s=%q\n' "$variable" "$(image_name "$name")"
    done
  } >"$testbed/env.new"
  mv "$testbed/env.new" "$testbed/env"
}

print_table() {
  printf '%-9s %-28s %-11s %7s\n' part version state seconds
  printf '%s\n' "${table[@]}"
  echo "environment: . $testbed/env"
}

main() {
  read_arguments "$@"
  if ! open_state; then
    say "$why"
    exit "$require"
  fi
  install_packages
  # Other parts may not have an engine to load the images into: for them, each image is built when it is needed.
  if with_images && is_root; then start_builds; fi
  up_parts
  end_builds
  write_environment
  print_table
  [ "$missing" = 0 ] || exit "$require"
}

main "$@"
