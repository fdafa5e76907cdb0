# shellcheck shell=bash

postgres_bin() { printf '%s\n' /usr/lib/postgresql/*/bin/initdb | tail -1; }

packages_postgres() { [ -x "$(postgres_bin)" ] || echo postgresql; }

# Tests start their own servers, each in a separate folder.
up_postgres() {
  [ -x "$(postgres_bin)" ] || fail "postgresql is not installed" || return
  version=$("$(postgres_bin)" --version | awk '{ print $3 }')
  state=installed
}
