# shellcheck shell=bash
# Only where it is asked for: its first build takes up to a quarter of an hour.

# Binaries and what Go compiled; a folder that outlives the state makes the next build short.
kubernetes_cache=${GLOVEBOX_TEST_KUBERNETES_CACHE:-$testbed/cache/kubernetes}
kubernetes_state=$testbed/kubernetes
kubernetes_build_seconds=900
# `k8s pause containerd runsc policy` also has user namespaces and gVisor.
kubernetes_parts=${GLOVEBOX_TEST_KUBERNETES_PARTS:-k8s pause policy}

packages_kubernetes() {
  have ctr || echo containerd
  have runc || echo runc
  have iptables || echo iptables
  have openssl || echo openssl
  have curl || echo curl
  have ip || echo iproute2
  [[ " $kubernetes_parts " != *" policy "* ]] || have ipset || echo ipset
  [ -x /usr/lib/cni/bridge ] || echo containernetworking-plugins
}

build_kubernetes() {
  K8S_PARTS=$kubernetes_parts K8S_GOCACHE=$kubernetes_cache/gocache \
    timeout --kill-after=10 "$kubernetes_build_seconds" \
    "$here/kubernetes/build.sh" "$kubernetes_cache/bin" >"$testbed/logs/kubernetes-build.log" 2>&1 9>&-
}

up_kubernetes() {
  is_root || fail "needs root" || return
  have go || [ -x /usr/local/go/bin/go ] || fail "needs Go to build it" || return
  PATH=$PATH:/usr/local/go/bin
  build_kubernetes || fail "was not built within $((kubernetes_build_seconds / 60)) minutes: see logs/kubernetes-build.log" || return
  local policy=
  [[ " $kubernetes_parts " != *" policy "* ]] || policy=1
  K8S_POLICY=$policy "$here/kubernetes/up.sh" "$kubernetes_state" "$kubernetes_cache/bin" \
    >"$testbed/logs/kubernetes.log" 2>&1 9>&- || fail "did not start: see logs/kubernetes.log" || return
  version=$(sed -n 's/ .*//p' "$kubernetes_cache/bin/.k8s.stamp")
  state=running
}
