# shellcheck shell=bash
# A part consists of packages_NAME, which prints what has to be installed, and up_NAME, which sets `version` and
# `state` or fails with `why`.

packages_local() {
  have bwrap || echo bubblewrap
  have python3 || echo python3
  have unshare || echo util-linux
  have busybox || echo busybox-static
  [ -e /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates
}

up_local() {
  local missing
  missing=$(packages_local | tr '\n' ' ')
  [ -z "$missing" ] || fail "not installed: $missing" || return
  bwrap --ro-bind / / --unshare-all true 2>/dev/null || fail "bwrap cannot make namespaces" || return
  version=$(bwrap --version | cut -d' ' -f2)
  state=ready
}
