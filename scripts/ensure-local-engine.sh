#!/bin/sh
# Installs what the embedded engine uses on Linux: bubblewrap, python3 and util-linux. Asks no questions; without
# permission to install it prints the one command to run and fails. Elsewhere there is nothing to install.
set -eu
[ "$(uname -s)" = Linux ] || exit 0

missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need bwrap bubblewrap
need python3 python3
need unshare util-linux
need nsenter util-linux
need setpriv util-linux
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086 # a list of words
packages=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
packages=${packages% }

if ! command -v apt-get >/dev/null 2>&1; then
  echo "Install these with your system's package manager, then run this again: $packages" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "The embedded engine needs $packages. Run this, then try again:" >&2
  echo "  sudo apt-get install -y $packages" >&2
  exit 1
fi
echo "Installing $packages" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
{
  # If the update fails, the existing lists may still be good enough.
  apt-get update -qq || true
  # shellcheck disable=SC2086 # a list of words
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 $packages
} >"$log" 2>&1 </dev/null || {
  cat "$log" >&2
  exit 1
}
