#!/bin/sh
# What `npm run test:kubernetes` runs: brings a cluster up, runs its tests, and takes it down. Arguments go to vitest.
# If GLOVEBOX_TEST_KUBECONFIG names a cluster, that one is used and left.
set -eu
cd -- "$(dirname -- "$0")/.."
sh scripts/ensure-dependencies.sh

testbed=${GLOVEBOX_TESTBED_DIR:-/var/tmp/glovebox-testbed}
# What a shell knows of the test bed's cluster may be from before it was taken down.
if [ "${GLOVEBOX_TEST_KUBECONFIG:-}" = "$testbed/kubernetes/admin.kubeconfig" ] && [ ! -e "$testbed/kubernetes/run/kubelet.pid" ]; then
  unset GLOVEBOX_TEST_KUBECONFIG
fi
if [ -z "${GLOVEBOX_TEST_KUBECONFIG:-}" ]; then
  trap 'test/testbed/kubernetes/down.sh "$testbed/kubernetes"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  test/testbed/up.sh kubernetes
  if [ -f "$testbed/env" ]; then
    # shellcheck source=/dev/null
    . "$testbed/env"
  fi
  if [ -z "${GLOVEBOX_TEST_KUBECONFIG:-}" ]; then
    echo "SKIPPED lane kubernetes: there is no cluster (the table above says why)" >&2
    case ",${GLOVEBOX_TEST_REQUIRE:-}," in *,kubernetes,*) exit 1 ;; esac
    exit 0
  fi
fi
GLOVEBOX_TEST_REQUIRE=kubernetes node_modules/.bin/node node_modules/vitest/vitest.mjs run --project kubernetes "$@"
