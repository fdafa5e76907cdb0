# shellcheck shell=bash

packages_runsc() { have runsc || echo runsc; }

runsc_registered() { docker info -f '{{json .Runtimes}}' 2>/dev/null | grep -q '"runsc"'; }

up_runsc() {
  have runsc || fail "runsc is not installed" || return
  docker_answers || fail "needs docker" || return
  version=$(package_version runsc)
  state=registered
  ! runsc_registered || return 0
  local pid
  pid=$(daemon_pid dockerd) || fail "this Docker is not the testbed's and has no runtime runsc" || return
  write_docker_config || true
  kill -HUP "$pid"
  wait_for 10 runsc_registered || fail "dockerd did not take the runtime runsc"
}
