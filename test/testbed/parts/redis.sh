# shellcheck shell=bash

packages_redis() { have redis-server || echo redis-server; }

# Tests start servers of their own, each at a port of its own.
up_redis() {
  have redis-server || fail "redis-server is not installed" || return
  version=$(package_version redis-server)
  state=installed
}
