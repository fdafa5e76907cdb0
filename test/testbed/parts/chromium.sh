# shellcheck shell=bash

packages_chromium() { have chromium || echo chromium; }

# Tests start their own browsers.
up_chromium() {
  have chromium || fail "chromium is not installed" || return
  version=$(package_version chromium)
  state=installed
}
