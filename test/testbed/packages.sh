# shellcheck shell=bash
# Sourced by up.sh: installs Debian packages.

installable() { is_root && have apt-get; }

package_version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo '?'; }

apt_update() {
  say "apt-get update"
  local attempt
  # DPkg::Lock::Timeout does not cover the lock on the package lists.
  for attempt in 1 2 3 4 5; do
    apt-get update -qq >>"$testbed/logs/apt.log" 2>&1 && return
    sleep "$attempt"
  done
  return 1
}

apt_get_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@" >>"$testbed/logs/apt.log" 2>&1
}

# Packages must not start services: the testbed starts its own processes.
without_services() (
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  fi
  "$@"
)

apt_install() {
  [ $# -gt 0 ] || return 0
  say "apt-get install $*"
  apt_update || say "apt-get update failed; trying with the lists at hand"
  without_services apt_get_install "$@" && return
  local package
  for package in "$@"; do
    without_services apt_get_install "$package" || say "cannot install $package (see $testbed/logs/apt.log)"
  done
}
