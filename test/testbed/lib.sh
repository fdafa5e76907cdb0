# shellcheck shell=bash
# Sourced by up.sh and down.sh: the state folder, waiting, HTTP.

umask 022
# The PATH of an ordinary user or of a cron job lacks sbin, where dockerd and iptables are.
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# docker, podman and npm look for their configuration under HOME and behave differently without it.
HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
export PATH HOME

testbed=$(realpath -m "${GLOVEBOX_TESTBED_DIR:-/var/tmp/glovebox-testbed}")
default_docker_host=unix:///var/run/docker.sock
registry_address=127.0.0.1:5000
declare -x DOCKER_HOST=${DOCKER_HOST:-$default_docker_host}
# A context in the user's docker configuration must not lead elsewhere.
unset DOCKER_CONTEXT

why=
fail() {
  why=$1
  return 1
}

say() { printf '%s\n' "$*" >&2; }
is_root() { [ "$(id -u)" = 0 ]; }
have() { command -v "$1" >/dev/null 2>&1; }

open_state() {
  mkdir -p "$testbed" || fail "cannot create $testbed" || return
  [ -O "$testbed" ] || fail "$testbed belongs to another user: set GLOVEBOX_TESTBED_DIR" || return
  mkdir -p "$testbed"/{run,logs,cache,loaded,tmp}
  exec 9>"$testbed/lock"
  flock -w 1800 9 || fail "another run has held $testbed/lock for 30 minutes" || return
  # Left over from a run that was killed.
  rm -rf --one-file-system "${testbed:?}/tmp"/* || true
}

wait_for() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.1
  done
}

# Prints the bodies of all PATHs of one server (a socket's path or host:port); fails unless all are 2xx.
# Node, because a bare machine has no curl.
http_get() {
  node -e '
    const [server, ...paths] = process.argv.slice(1);
    const [host, port] = server.split(":");
    const target = server.startsWith("/") ? { socketPath: server } : { host, port };
    const headers = { accept: "application/vnd.docker.distribution.manifest.v2+json, */*" };
    for (const path of paths) {
      require("node:http")
        .get({ ...target, path, headers, timeout: 5000 }, (response) => {
          if (response.statusCode >= 300) process.exitCode = 1;
          response.pipe(process.stdout, { end: false });
        })
        .on("timeout", () => process.exit(1))
        .on("error", () => process.exit(1));
    }' "$@" 2>/dev/null
}
