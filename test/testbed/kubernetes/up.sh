#!/usr/bin/env bash
# Starts a cluster of one node, of real parts: up.sh STATE_DIR BIN_DIR. A second run starts only what is not running.
# build.sh has filled BIN_DIR. STATE_DIR/env is then what leads to the cluster.
# K8S_IMAGES   Docker's images that the node gets (default: those of the test bed that are there)
# K8S_POLICY=1 also starts what enforces network policies (build.sh's part "policy", and ipset)
set -euo pipefail
state=$1
bin=$2
api=127.0.0.64         # the control plane's own loopback address
node=gbx-node
bridge=gbxk8s0
subnet=10.245.0.0/24
gateway=10.245.0.1     # the bridge's address, which is also the node's
services=10.246.0.0/24
mkdir -p "$state"/{etcd,pki,logs,run,auth,kubelet,cni,containerd,pods-logs,seccomp}
state=$(cd "$state" && pwd -P)
[ "$(id -u)" = 0 ] || { echo "up.sh: must run as root" >&2; exit 1; }
exec 9> "$state/lock"
flock 9

missing=()
command -v ctr > /dev/null || missing+=(containerd)
command -v runc > /dev/null || missing+=(runc)
command -v iptables > /dev/null || missing+=(iptables)
[ -x /usr/lib/cni/bridge ] || missing+=(containernetworking-plugins)
[ "${K8S_POLICY:-}" != 1 ] || command -v ipset > /dev/null || missing+=(ipset)
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq > /dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
fi
for part in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet; do ln -sf k8s "$bin/$part"; done

# --- certificates and tokens -----------------------------------------------------------------------------------------
pki=$state/pki
sign() { # sign NAME SUBJECT EXTENSIONS
  [ -e "$pki/$1.crt" ] && return
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$pki/$1.key" -subj "$2" 2> /dev/null |
    openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 365 -extfile <(printf '%s\n' "$3") -out "$pki/$1.crt" 2> /dev/null
}
if [ ! -e "$pki/ca.crt" ]; then
  openssl req -x509 -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$pki/ca.key" -subj /CN=gbx-ca -days 365 -out "$pki/ca.crt" 2> /dev/null
  openssl genrsa -out "$pki/sa.key" 2048 2> /dev/null
  openssl rsa -in "$pki/sa.key" -pubout -out "$pki/sa.pub" 2> /dev/null
  # who may come in: name, user, groups
  while read -r name user groups; do
    token=$(openssl rand -hex 24)
    echo "$token,$user,$name,\"$groups\"" >> "$state/auth/tokens.csv"
    cat > "$state/auth/$name.kubeconfig" <<CONFIG
apiVersion: v1
kind: Config
clusters: [{name: gbx, cluster: {server: "https://$api:6443", certificate-authority-data: "$(base64 -w0 "$pki/ca.crt")"}}]
users: [{name: gbx, user: {token: "$token"}}]
contexts: [{name: gbx, context: {cluster: gbx, user: gbx, namespace: default}}]
current-context: gbx
CONFIG
  done <<WHO
admin admin system:masters
controllers system:kube-controller-manager
scheduler system:kube-scheduler
node system:node:$node system:nodes
WHO
  chmod 600 "$pki"/*.key "$state"/auth/*
fi
sign apiserver /CN=kube-apiserver "subjectAltName=IP:$api,IP:127.0.0.1,IP:${services%.*}.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc"
sign apiserver-to-kubelet /O=system:masters/CN=kube-apiserver-kubelet-client "extendedKeyUsage=clientAuth"
sign kubelet "/CN=$node" "subjectAltName=IP:$gateway,DNS:$node"

# --- the pods' network ------------------------------------------------------------------------------------------------
if ! ip link show "$bridge" > /dev/null 2>&1; then
  ip link add "$bridge" type bridge
  ip addr add "$gateway/24" dev "$bridge"
  ip link set "$bridge" up
fi
sysctl -qw net.ipv4.ip_forward=1
# what kube-proxy does elsewhere, for the one service that is used: pods reach the API server by its address there
sysctl -qw "net.ipv4.conf.$bridge.route_localnet=1"
api_rule=(PREROUTING -i "$bridge" -d "${services%.*}.1" -p tcp --dport 443 -m comment --comment gbx-api -j DNAT --to-destination "$api:6443")
iptables -w -t nat -C "${api_rule[@]}" 2> /dev/null || iptables -w -t nat -A "${api_rule[@]}"
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || sysctl -qw net.bridge.bridge-nf-call-iptables=1
cat > "$state/cni/10-gbx.conflist" <<CNI
{ "cniVersion": "0.4.0", "name": "gbx",
  "plugins": [
    { "type": "bridge", "bridge": "$bridge", "isGateway": true, "ipMasq": true, "hairpinMode": true,
      "ipam": { "type": "host-local", "dataDir": "$state/run/ipam", "ranges": [[{ "subnet": "$subnet" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
    { "type": "portmap", "capabilities": { "portMappings": true } },
    { "type": "firewall", "backend": "iptables" } ] }
CNI

# --- containerd of our own ---------------------------------------------------------------------------------------------
gvisor=
runsc_bin=$(PATH=$bin:$PATH command -v runsc || true)
if [ -x "$bin/containerd-shim-runsc-v1" ] && [ -x "$bin/containerd" ] && [ -n "$runsc_bin" ]; then # Debian's containerd is too old for the shim
  gvisor="[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runsc]
  runtime_type = \"io.containerd.runsc.v1\"
  [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runsc.options]
    TypeUrl = \"io.containerd.runsc.v1.options\"
    ConfigPath = \"$state/containerd/runsc.toml\""
  cat > "$state/containerd/runsc.toml" <<RUNSC
binary_name = "$runsc_bin"
[runsc_config]
  platform = "systrap"
  ignore-cgroups = "false"
RUNSC
fi
cat > "$state/containerd/config.toml" <<TOML
version = 2
root = "$state/containerd/root"
state = "$state/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.internal.v1.tracing"]
[grpc]
address = "$state/run/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
path = "$state/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "gbx.local/pause:1"
stream_server_address = "127.0.0.1"
netns_mounts_under_state_dir = true
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "$state/cni"
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
$gvisor
TOML

# --- the kubelet ---------------------------------------------------------------------------------------------------------
cgroup_version=2
[ -e /sys/fs/cgroup/cgroup.controllers ] || cgroup_version=1
cat > "$state/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $gateway
port: 10250
healthzBindAddress: $api
healthzPort: 10248
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /
containerRuntimeEndpoint: unix://$state/run/containerd.sock
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "$pki/ca.crt"}}
authorization: {mode: Webhook}
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
clusterDNS: []
resolvConf: ""
podLogsDir: $state/pods-logs
volumePluginDir: $state/kubelet/volume-plugins
makeIPTablesUtilChains: false
podPidsLimit: ${K8S_PODPIDSLIMIT:-512}
seccompDefault: true
failSwapOn: false
maxPods: 110
registerNode: true
serializeImagePulls: false
evictionHard: {memory.available: 100Mi, nodefs.available: "1%", imagefs.available: "1%", nodefs.inodesFree: "1%"}
# Else 1.35 forgets images that it once pulled with credentials, once the credentials are gone.
imagePullCredentialsVerificationPolicy: NeverVerify
imageGCHighThresholdPercent: 100
imageMinimumGCAge: 1000h
nodeStatusUpdateFrequency: 10s
syncFrequency: 1m
YAML

# --- starting ----------------------------------------------------------------------------------------------------------------
alive() { [ -e "$state/run/$1.pid" ] && kill -0 "$(cat "$state/run/$1.pid")" 2> /dev/null; }
start() { # start NAME COMMAND...
  local name=$1
  shift
  alive "$name" && return
  PATH=$bin:$PATH setsid "$@" > "$state/logs/$name.log" 2>&1 < /dev/null 9>&- &
  echo $! > "$state/run/$name.pid"
}
wait_for() { # wait_for SECONDS WHAT COMMAND...
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { echo "up.sh: $what did not come up; see $state/logs" >&2; exit 1; }
    sleep 0.2
  done
}
token=$(awk -F, '$3 == "admin" { print $1 }' "$state/auth/tokens.csv")
ask() { curl -fsS --max-time 10 --cacert "$pki/ca.crt" -H "Authorization: Bearer $token" "$@"; }
k() { ask "https://$api:6443$1" "${@:2}"; }
make() { # make PATH JSON: creates an object, or leaves the one that is there
  local code
  code=$(curl -sS -o "$state/run/reply" -w '%{http_code}' --cacert "$pki/ca.crt" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d "$2" "https://$api:6443$1")
  case $code in 20? | 409) ;; *) echo "up.sh: POST $1: $code $(cat "$state/run/reply")" >&2; exit 1 ;; esac
}

start etcd "$bin/etcd" --name gbx --data-dir "$state/etcd/data" --unsafe-no-fsync --log-level warn \
  --listen-client-urls "http://$api:2379" --advertise-client-urls "http://$api:2379" \
  --listen-peer-urls "http://$api:2380" --initial-advertise-peer-urls "http://$api:2380" --initial-cluster "gbx=http://$api:2380"
start containerd containerd --config "$state/containerd/config.toml"
start kube-apiserver "$bin/kube-apiserver" --etcd-servers "http://$api:2379" --bind-address "$api" --advertise-address "$gateway" --secure-port 6443 \
  --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/ca.crt" --requestheader-client-ca-file "$pki/ca.crt" --requestheader-allowed-names none --token-auth-file "$state/auth/tokens.csv" \
  --service-account-issuer https://gbx --service-account-key-file "$pki/sa.pub" --service-account-signing-key-file "$pki/sa.key" \
  --kubelet-certificate-authority "$pki/ca.crt" --kubelet-client-certificate "$pki/apiserver-to-kubelet.crt" --kubelet-client-key "$pki/apiserver-to-kubelet.key" \
  --kubelet-preferred-address-types InternalIP --authorization-mode Node,RBAC --service-cluster-ip-range "$services" --endpoint-reconciler-type none \
  --allow-privileged=true --profiling=false ${K8S_APISERVER_ARGS:-}
# the images come in while the apiserver starts
c() { ctr --address "$state/run/containerd.sock" -n k8s.io "$@"; }
wait_for 30 containerd c version
if ! c images ls -q | grep -qx gbx.local/pause:1; then
  # an image of one file, written by hand in docker's archive format
  box=$(mktemp -d)
  mkdir "$box/layer" && cp "$bin/pause" "$box/layer/pause"
  tar -C "$box/layer" --owner 0 --group 0 -cf "$box/layer.tar" pause
  sum=$(sha256sum "$box/layer.tar" | cut -d' ' -f1)
  printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/pause"],"User":"65535:65535"},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$(go env GOARCH 2> /dev/null || echo amd64)" "$sum" > "$box/config.json"
  printf '[{"Config":"config.json","RepoTags":["gbx.local/pause:1"],"Layers":["layer.tar"]}]' > "$box/manifest.json"
  tar -C "$box" -cf "$box/image.tar" manifest.json config.json layer.tar
  c images import "$box/image.tar" > /dev/null
  c images label gbx.local/pause:1 io.cri-containerd.pinned=pinned > /dev/null
  rm -rf "$box"
fi
for image in ${K8S_IMAGES:-glovebox-test/python:1 glovebox-test/minimal:1 glovebox-test/node:1 glovebox-test/bun:1}; do
  c images ls -q | grep -qE "(^|/)$image\$" && continue
  docker image inspect "$image" > /dev/null 2>&1 || continue
  docker save "$image" | c images import - > /dev/null
done
wait_for 90 kube-apiserver k /readyz
start kube-controller-manager "$bin/kube-controller-manager" --kubeconfig "$state/auth/controllers.kubeconfig" --authentication-kubeconfig "$state/auth/controllers.kubeconfig" \
  --authorization-kubeconfig "$state/auth/controllers.kubeconfig" --bind-address "$api" --leader-elect=false --use-service-account-credentials=true \
  --service-account-private-key-file "$pki/sa.key" --root-ca-file "$pki/ca.crt" --profiling=false \
  --controllers serviceaccount-controller,serviceaccount-token-controller,root-ca-certificate-publisher-controller,namespace-controller,node-lifecycle-controller,node-ipam-controller,pod-garbage-collector-controller,garbage-collector-controller,job-controller,ttl-after-finished-controller,resourcequota-controller,taint-eviction-controller,deployment-controller,replicaset-controller
start kube-scheduler "$bin/kube-scheduler" --kubeconfig "$state/auth/scheduler.kubeconfig" --authentication-kubeconfig "$state/auth/scheduler.kubeconfig" \
  --authorization-kubeconfig "$state/auth/scheduler.kubeconfig" --bind-address "$api" --leader-elect=false --profiling=false
start kubelet "$bin/kubelet" --config "$state/kubelet.yaml" --kubeconfig "$state/auth/node.kubeconfig" --root-dir "$state/kubelet" --hostname-override "$node" --node-ip "$gateway" --v=1
ready() { # the node says Ready, and no taint keeps pods away
  k "/api/v1/nodes/$node" | tr -d ' \n' > "$state/run/node"
  grep -qE '"type":"Ready","status":"True"' "$state/run/node" && ! grep -q '"taints"' "$state/run/node"
}
wait_for 90 "the node" ready
wait_for 30 "the default service account" k /api/v1/namespaces/default/serviceaccounts/default
[ -z "$gvisor" ] || make /apis/node.k8s.io/v1/runtimeclasses '{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"gvisor"},"handler":"runsc"}'
if [ "${K8S_POLICY:-}" = 1 ]; then
  start policy "$bin/kube-router" --kubeconfig "$state/auth/admin.kubeconfig" --hostname-override "$node" --run-firewall=true --run-router=false --run-service-proxy=false \
    --enable-cni=false --service-cluster-ip-range "$services" --health-port 0 --metrics-port 0
fi
cp "$state/auth/admin.kubeconfig" "$state/admin.kubeconfig"
cat > "$state/env" <<ENV
export GLOVEBOX_TEST_KUBECONFIG=$state/admin.kubeconfig
export GLOVEBOX_TEST_KUBERNETES_NODE=$node
export GLOVEBOX_TEST_KUBERNETES_CTR="ctr --address $state/run/containerd.sock -n k8s.io"
ENV
echo "up: https://$api:6443, node $node, cgroup v$cgroup_version${gvisor:+, gVisor}"
