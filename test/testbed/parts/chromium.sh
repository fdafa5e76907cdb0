# shellcheck shell=bash

packages_chromium() { have chromium || echo chromium; }

# Tests start browsers of their own.
up_chromium() {
  have chromium || fail "chromium is not installed" || return
  version=$(package_version chromium)
  state=installed
}
