#!/usr/bin/env bash
# Stops what up.sh started, and no other process: down.sh STATE_DIR [--wipe]. --wipe also deletes the state.
set -uo pipefail
state=$1
[ -d "$state" ] || exit 0
state=$(cd "$state" && pwd -P)
gone() { ! kill -0 "$1" 2> /dev/null || [ "$(awk '{ sub(/.*\) /, ""); print $1 }' "/proc/$1/stat" 2> /dev/null)" = Z ]; }
stop() { # stop NAME...: asks all of them, waits up to 10 s, then kills
  local name pid pids=()
  for name in "$@"; do
    [ -e "$state/run/$name.pid" ] || continue
    pid=$(cat "$state/run/$name.pid")
    rm -f "$state/run/$name.pid"
    # only a process that is still ours: its command line names our binary or our state
    tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | grep -qE "(^|/)$name |$state" || continue
    kill "$pid" 2> /dev/null && pids+=("$pid")
  done
  for pid in ${pids[@]+"${pids[@]}"}; do
    for _ in $(seq 100); do gone "$pid" && break; sleep 0.1; done
    gone "$pid" || kill -9 "$pid" 2> /dev/null
  done
}
c() { timeout 20 ctr --address "$state/run/containerd.sock" -n k8s.io "$@"; }
alive() { [ -e "$state/run/$1.pid" ] && kill -0 "$(cat "$state/run/$1.pid")" 2> /dev/null; }
stop kube-scheduler
# the pods go through the kubelet while it runs, so that the network plugins take their rules back
if alive kubelet && alive kube-apiserver && alive containerd; then
  token=$(awk -F, '$3 == "admin" { print $1 }' "$state/auth/tokens.csv")
  ask() { curl -sS -o "$state/run/reply" --max-time 5 --cacert "$state/pki/ca.crt" -H "Authorization: Bearer $token" "$@" 2> /dev/null; }
  ask https://127.0.0.64:6443/api/v1/pods
  for path in $(grep -oE '"(name|namespace)": *"[^"]+"|"creationTimestamp"' "$state/run/reply" |
    awk -F'"' '$2 == "name" { n = $4 } $2 == "namespace" && n != "" { print $4 "/pods/" n; n = "" }' | sort -u); do
    ask -X DELETE -H 'Content-Type: application/json' -d '{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}' "https://127.0.0.64:6443/api/v1/namespaces/$path"
  done
  for _ in $(seq 60); do [ -n "$(c tasks ls -q 2> /dev/null)" ] || break; sleep 0.25; done
  sleep 1
fi
stop kubelet
if [ -e "$state/run/policy.pid" ]; then
  stop policy
  # the enforcer leaves its rules behind; they are all in chains named KUBE-
  for table in filter; do
    iptables-save -t "$table" | grep -E '^-A (INPUT|FORWARD|OUTPUT) .*-j KUBE-' | sed 's/^-A/-D/' | while read -r rule; do eval "iptables -w -t $table $rule"; done
    for chain in $(iptables-save -t "$table" | grep -oE '^:KUBE-[^ ]+' | cut -c2-); do iptables -w -t "$table" -F "$chain"; done
    for chain in $(iptables-save -t "$table" | grep -oE '^:KUBE-[^ ]+' | cut -c2-); do iptables -w -t "$table" -X "$chain"; done
  done
  for set in $(ipset list -n 2> /dev/null | grep -E '^(inet6:)?KUBE-|^kube-router'); do ipset destroy "$set" 2> /dev/null; done
fi
# what is left is killed through containerd: each task, then its record
if alive containerd; then
  for id in $(c tasks ls -q 2> /dev/null); do c tasks kill -s SIGKILL -a "$id" > /dev/null 2>&1; done
  [ -z "$(c tasks ls -q 2> /dev/null)" ] || sleep 0.5
  for id in $(c tasks ls -q 2> /dev/null); do c tasks rm -f "$id" > /dev/null 2>&1; done
  for id in $(c containers ls -q 2> /dev/null); do c containers rm "$id" > /dev/null 2>&1; done
fi
stop kube-controller-manager kube-apiserver
stop containerd etcd
iptables-save -t nat | grep -E '^-A PREROUTING .*gbx-api' | sed 's/^-A/-D/' | while read -r rule; do eval "iptables -w -t nat $rule"; done
# rules of our own pod network ("gbx") that a sandbox which died hard left behind
iptables-save -t nat | grep -E '^-A POSTROUTING .*name: ..gbx..' | while read -r rule; do
  eval "iptables -w -t nat ${rule/#-A/-D}"
  chain=${rule##*-j }
  iptables -w -t nat -F "$chain" && iptables -w -t nat -X "$chain"
done
iptables-save -t filter | grep -E '^-A CNI-FORWARD .*10\.245\.0\.' | while read -r rule; do eval "iptables -w -t filter ${rule/#-A/-D}"; done
# the firewall plugin's own chains, where nobody else's rule is in them
if iptables-save -t filter | grep -q '^:CNI-FORWARD' && [ "$(iptables-save -t filter | grep -cE '^-A CNI-(FORWARD|ADMIN) ')" -le 1 ]; then
  iptables-save -t filter | grep -E '^-A FORWARD .*-j CNI-FORWARD' | while read -r rule; do eval "iptables -w -t filter ${rule/#-A/-D}"; done
  for chain in CNI-FORWARD CNI-ADMIN; do iptables -w -F "$chain"; done
  for chain in CNI-FORWARD CNI-ADMIN; do iptables -w -X "$chain" 2> /dev/null; done
fi
for folder in /sys/fs/cgroup/*/kubepods /sys/fs/cgroup/kubepods; do [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} \; 2> /dev/null; done
# mounts that the pods left, their network namespaces among them
awk -v s="$state/" 'index($2, s) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount -l "$mount" 2> /dev/null; done
ip link del gbxk8s0 2> /dev/null
rm -rf "$state/run/ipam"
[ "${2:-}" != --wipe ] || rm -rf "$state"
exit 0
