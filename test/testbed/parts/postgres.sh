# shellcheck shell=bash

postgres_bin() { printf '%s\n' /usr/lib/postgresql/*/bin/initdb | tail -1; }

packages_postgres() { [ -x "$(postgres_bin)" ] || echo postgresql; }

# Tests start servers of their own, each in a folder of its own.
up_postgres() {
  [ -x "$(postgres_bin)" ] || fail "postgresql is not installed" || return
  version=$("$(postgres_bin)" --version | awk '{ print $3 }')
  state=installed
}
