#!/usr/bin/env bash
# Builds the parts of a cluster from package registries alone: build.sh BIN_DIR. A part that is there in its version is kept.
# K8S_PARTS    which parts, of "k8s pause containerd runsc policy" (default: k8s pause)
#              containerd: containerd 2 and runc, in place of Debian's older ones (user namespaces, gVisor's shim)
# K8S_GOCACHE  where Go keeps what it compiled; with its module cache that is what makes the next build short
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$1
version=${K8S_VERSION:-v1.35.4}
etcd_version=${K8S_ETCD_VERSION:-v3.6.5}
gvisor_version=${K8S_GVISOR_VERSION:-v0.0.0-20260905035102-160fafc42237}
containerd_version=${K8S_CONTAINERD_VERSION:-v2.2.9}
runc_version=${K8S_RUNC_VERSION:-v1.3.6}
policy_version=${K8S_POLICY_VERSION:-v2.1.0}
parts=${K8S_PARTS:-k8s pause}
export CGO_ENABLED=0 GOFLAGS=-mod=mod
[ -z "${K8S_GOCACHE:-}" ] || export GOCACHE=$K8S_GOCACHE
mkdir -p "$bin"

# Each part's stamp holds what it was built from, so an unchanged part is never built again.
fresh() { [ -e "$bin/.$1.stamp" ] && [ "$(cat "$bin/.$1.stamp")" = "$2" ]; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() { # compile OUTPUT PACKAGE LDFLAGS
  nice -n "${K8S_NICE:-10}" go build -p "${K8S_JOBS:-2}" -trimpath -ldflags "-s -w $3" -o "$bin/$1" "$2"
}

for part in $parts; do
  case $part in
    k8s)
      stamp="$version $etcd_version $(go version) $(cksum < "$here/binary/main.go")"
      fresh k8s "$stamp" && continue
      mkdir -p "$work/k8s" && cd "$work/k8s" && cp "$here/binary/main.go" .
      # k8s.io/kubernetes names its staging modules v0.0.0: each one is pointed at its own release.
      go mod download "k8s.io/kubernetes@$version"
      released=v0.${version#v1.}
      {
        printf 'module glovebox.test/kubernetes\n\ngo 1.25.0\n\ngodebug default=go1.25\n\n'
        printf 'require (\n\tk8s.io/kubernetes %s\n\tgo.etcd.io/etcd/server/v3 %s\n)\n\nreplace (\n' "$version" "$etcd_version"
        awk -v v="$released" '$2 == "=>" && $3 ~ /^\.\/staging\// { print "\t" $1 " => " $1 " " v }' \
          "$(go env GOMODCACHE)/cache/download/k8s.io/kubernetes/@v/$version.mod"
        printf ')\n'
      } > go.mod
      minor=${version#v1.}
      compile k8s . "-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
      ;;
    pause)
      stamp="$(go version) $(cksum < "$here/pause/main.go")"
      fresh pause "$stamp" && continue
      cp -r "$here/pause" "$work/pause" && cd "$work/pause"
      compile pause . ""
      ;;
    containerd)
      stamp="$containerd_version $runc_version $(go version)"
      fresh containerd "$stamp" && continue
      mkdir -p "$work/containerd" && cd "$work/containerd"
      printf 'module glovebox.test/containerd\n\ngo 1.25.0\n' > go.mod
      go get "github.com/containerd/containerd/v2@$containerd_version" > /dev/null 2>&1
      version_flag="-X github.com/containerd/containerd/v2/version.Version=$containerd_version"
      compile containerd github.com/containerd/containerd/v2/cmd/containerd "$version_flag"
      compile containerd-shim-runc-v2 github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2 "$version_flag"
      # runc is part C: it needs gcc, and libseccomp to apply seccomp profiles
      if ! pkg-config --exists libseccomp 2> /dev/null; then
        apt-get update -qq > /dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libseccomp-dev pkg-config gcc libc6-dev > /dev/null
      fi
      mkdir -p "$work/runc" && cd "$work/runc"
      printf 'module glovebox.test/runc\n\ngo 1.25.0\n' > go.mod
      go get "github.com/opencontainers/runc@$runc_version" > /dev/null 2>&1
      CGO_ENABLED=1 GOFLAGS="$GOFLAGS -tags=seccomp" compile runc github.com/opencontainers/runc "-X main.version=${runc_version#v}"
      ;;
    runsc) # gVisor's engine and its containerd shim
      stamp="$gvisor_version $(go version) $(cksum < "$here/runsc/oom_linux.go")"
      fresh runsc "$stamp" && continue
      mkdir -p "$work/runsc" && cd "$work/runsc"
      printf 'module glovebox.test/runsc\n\ngo 1.26.3\n' > go.mod
      go get "gvisor.dev/gvisor@$gvisor_version" > /dev/null 2>&1
      # the shim alone is built against a copy of containerd's module with our helper in it
      cp -r "$(go mod download -json github.com/containerd/containerd/v2 | awk -F'"' '$2 == "Dir" { print $4 }')" containerd
      chmod -R u+w containerd
      cp "$here/runsc/oom_linux.go" containerd/pkg/sys/oom_linux.go
      go mod edit -replace github.com/containerd/containerd/v2=./containerd
      compile containerd-shim-runsc-v1 gvisor.dev/gvisor/shim ""
      compile runsc gvisor.dev/gvisor/runsc ""
      ;;
    policy) # kube-router, used for its NetworkPolicy controller only
      stamp="$policy_version $(go version)"
      fresh policy "$stamp" && continue
      mkdir -p "$work/policy" && cd "$work/policy"
      printf 'module glovebox.test/policy\n\ngo 1.25.0\n' > go.mod
      go get "github.com/cloudnativelabs/kube-router/v2@$policy_version" > /dev/null 2>&1
      compile kube-router github.com/cloudnativelabs/kube-router/v2/cmd/kube-router ""
      ;;
    *)
      echo "build.sh: no part named $part" >&2
      exit 2
      ;;
  esac
  echo "$stamp" > "$bin/.$part.stamp"
done
