# shellcheck shell=bash

clock_library() { compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null; }

packages_clock() { clock_library || echo libfaketime; }

# The soak sets the clock of the servers that it starts.
up_clock() {
  clock_library || fail "libfaketime is not installed" || return
  version=$(package_version libfaketime)
  state=installed
}
