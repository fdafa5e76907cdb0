# shellcheck shell=bash

packages_redis() { have redis-server || echo redis-server; }

# Tests start their own servers, each at a separate port.
up_redis() {
  have redis-server || fail "redis-server is not installed" || return
  version=$(package_version redis-server)
  state=installed
}
