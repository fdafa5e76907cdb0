/**
 * Tests that measure what others take (time, processes, the machine's memory), set the clock far ahead, or count or
 * sweep what stands on any engine, whoever made it.
 */
export const aloneFiles: readonly string[] = [
  "test/e2e/clock-jump.test.ts",
  "test/e2e/packages-elsewhere.test.ts",
  "test/e2e/session-multitude.test.ts",
  "test/e2e/sweep.test.ts",
  "test/security/resource-attacks.test.ts",
];

/**
 * What takes long and seldom breaks alone: `npm run test:full` runs it. Other versions and frameworks, whole corpora, crashes,
 * each command and door beside the main ones, hostile neighbours, exchanges that are tried until they would have succeeded, packages from elsewhere or at places that an
 * operator must open, machines where neither namespaces nor root are to be had, and other people's programs.
 */
export const rareFiles: readonly string[] = [
  "test/e2e/clock-jump.test.ts",
  "test/e2e/console-preview.test.ts",
  "test/e2e/copy-command.test.ts",
  "test/e2e/console-accessibility.test.ts",
  "test/e2e/corpus.test.ts",
  "test/e2e/crash.test.ts",
  "test/e2e/deployment.test.ts",
  "test/e2e/doctor.test.ts",
  "test/e2e/engine-dies.test.ts",
  "test/e2e/exec-command.test.ts",
  "test/e2e/http-ending.test.ts",
  "test/e2e/installed-package.test.ts",
  "test/e2e/javascript-runners.test.ts",
  "test/e2e/keys-shares.test.ts",
  "test/e2e/language-turns.test.ts",
  "test/e2e/library-in-test-runners.test.ts",
  "test/e2e/live-copy.test.ts",
  "test/e2e/log-flood.test.ts",
  "test/e2e/logs-command.test.ts",
  "test/e2e/mcp-conformance.test.ts",
  "test/e2e/mcp-inspector.test.ts",
  "test/e2e/mcp-install.test.ts",
  "test/e2e/mcp-shutdown.test.ts",
  "test/e2e/metrics-doors.test.ts",
  "test/e2e/network-command.test.ts",
  "test/e2e/node-versions.test.ts",
  "test/e2e/ordinary-user.test.ts",
  "test/e2e/package-cache-crash.test.ts",
  "test/e2e/package-origins.test.ts",
  "test/e2e/package-paths.test.ts",
  "test/e2e/packages-command.test.ts",
  "test/e2e/packages-elsewhere.test.ts",
  "test/e2e/packages-preload.test.ts",
  "test/e2e/packages-public.test.ts",
  "test/e2e/port-forwarders.test.ts",
  "test/e2e/preload-command.test.ts",
  "test/e2e/preview-command.test.ts",
  "test/e2e/preview-frameworks.test.ts",
  "test/e2e/project-growth.test.ts",
  "test/e2e/registries.test.ts",
  "test/e2e/remote-sandboxes.test.ts",
  "test/e2e/session-crash.test.ts",
  "test/e2e/session-disturbed.test.ts",
  "test/e2e/session-ends.test.ts",
  "test/e2e/session-multitude.test.ts",
  "test/e2e/session-room.test.ts",
  "test/e2e/shares.test.ts",
  "test/e2e/store-disk.test.ts",
  "test/e2e/stored-runs.test.ts",
  "test/e2e/sweep.test.ts",
  "test/e2e/test-disk.test.ts",
  "test/e2e/tooling-files.test.ts",
  "test/e2e/wrapped-runners.test.ts",
  "test/e2e/traces.test.ts",
  "test/e2e/upstream-proxy.test.ts",
  "test/security/cohabitants.test.ts",
  "test/security/egress/fuzz.test.ts",
  "test/security/egress/proxy-process.test.ts",
  "test/security/mount-exchange-rootless.test.ts",
  "test/security/mount-exchange.test.ts",
  "test/security/ordinary-programs.test.ts",
];

/** Those that take longest, so that none of them is begun last. */
export const longFiles: readonly string[] = [
  "test/engine-contract/contract.runsc.test.ts",
  "test/engine-contract/contract.docker.test.ts",
  "test/engine-contract/contract.podman.test.ts",
  "test/security/cohabitants.test.ts",
  "test/security/probes.test.ts",
  "test/e2e/corpus.test.ts",
  "test/e2e/exec-command.test.ts",
  "test/e2e/cli.test.ts",
  "test/e2e/session-processes.test.ts",
  "test/e2e/sessions.test.ts",
  "test/e2e/process-ports.test.ts",
  "test/e2e/network.test.ts",
  "test/e2e/environments.test.ts",
  "test/e2e/secrets.test.ts",
  "test/e2e/packages.test.ts",
  "test/engine-contract/contract.ordinary-user.test.ts",
  "test/engine-contract/contract.local.test.ts",
];

/** Of the tests of the repository: the tools of its static checks on planted faults, and the package as it is published. */
export const rareRepositoryFiles: readonly string[] = ["test/gates.test.ts", "test/package.test.ts"];
