# shellcheck shell=bash

packages_registry() { registry_answers || have docker-registry || echo docker-registry; }

registry_answers() { http_get "$registry_address" /v2/ >/dev/null; }

write_registry_config() {
  mkdir -p "$testbed/registry"
  cat >"$testbed/registry/config.yml" <<YAML
version: 0.1
log:
  level: warn
storage:
  filesystem:
    rootdirectory: $testbed/registry/data
  delete:
    enabled: true
http:
  addr: $registry_address
YAML
}

up_registry() {
  state=running
  version=$(package_version docker-registry)
  if registry_answers; then
    daemon_pid registry >/dev/null || state=found
  else
    have docker-registry || fail "docker-registry is not installed" || return
    stop_daemon registry
    write_registry_config
    start_daemon registry docker-registry serve "$testbed/registry/config.yml"
    await_daemon registry 20 registry_answers || return
    state=started
  fi
}
