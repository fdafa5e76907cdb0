# shellcheck shell=bash

packages_docker() {
  have docker || echo docker.io
  docker_answers || have dockerd || echo docker.io
  docker_answers || have iptables || echo iptables
  # For the tests of its connections over SSH and TLS, which start their own servers.
  have ssh || echo openssh-client
  [ -x /usr/sbin/sshd ] || echo openssh-server
  have openssl || echo openssl
  # For the test of the deployment.
  have docker-compose || echo docker-compose
}

docker_answers() { timeout 10 docker version -f '{{.Server.Version}}' >/dev/null 2>&1; }

runsc_runtime() {
  ! have runsc || printf '%s' \
    "\"runsc\": { \"path\": \"$(command -v runsc)\", \"runtimeArgs\": [\"--network=none\", \"--platform=ptrace\"] }"
}

# Fails when nothing changed. The kvm platform of Debian's gVisor hangs, and its network needs more
# privileges than the test machine has, hence the runtime's arguments.
write_docker_config() {
  local file=$testbed/docker/daemon.json text
  mkdir -p "$testbed/docker"
  text=$(
    cat <<JSON
{
  "hosts": ["$default_docker_host"],
  "data-root": "$testbed/docker/data",
  "pidfile": "$testbed/docker/dockerd.pid",
  "shutdown-timeout": 5,
  "runtimes": { $(runsc_runtime) }
}
JSON
  )
  [ "$text" != "$(cat "$file" 2>/dev/null)" ] || return
  printf '%s\n' "$text" >"$file"
}

# dockerd mistakes any process with a recorded id, even a zombie, for its containerd (or for another dockerd)
# and then refuses to start; after a restart of the machine the id may belong to any process.
clear_stale_docker() {
  local file
  rm -f "$testbed/docker/dockerd.pid"
  for file in /var/run/docker.pid /var/run/docker/containerd/containerd.pid; do
    [ ! -f "$file" ] || lives_as "$(cat "$file")" "$(basename "$file" .pid)" || rm -f "$file"
  done
}

lives_as() {
  case $(cat "/proc/$1/comm" 2>/dev/null) in
    "$2" | "$2"d) process_stamp "$1" >/dev/null ;;
    *) return 1 ;;
  esac
}

start_docker() {
  if ! daemon_pid dockerd >/dev/null; then
    [ "$DOCKER_HOST" = "$default_docker_host" ] || fail "nothing answers on $DOCKER_HOST" || return
    is_root || fail "no Docker answers and only root can start one" || return
    have dockerd || fail "dockerd is not installed" || return
    write_docker_config || true
    clear_stale_docker
    start_daemon dockerd dockerd --config-file "$testbed/docker/daemon.json"
  fi
  await_daemon dockerd 60 docker_answers && return
  stop_daemon dockerd
  return 1
}

up_docker() {
  have docker || fail "the docker command is not installed" || return
  if docker_answers; then
    state=found
    ! daemon_pid dockerd >/dev/null || state=running
  else
    start_docker || return
    state=started
  fi
  version=$(docker version -f '{{.Server.Version}}')
}
