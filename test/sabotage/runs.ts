import type { Sabotage } from "./sabotage.ts";

const processTree = "src/sandbox/process-tree.ts";
const verdicts = "test/e2e/verdicts.test.ts";
const hostVariables = "test/e2e/host-variables.test.ts";
const minIsolation = "test/e2e/min-isolation.test.ts";

const verdictsOfRuns: readonly Sabotage[] = [
  {
    id: "session: want of memory sticks to later calls",
    file: "src/workloads/run/conclude-run.ts",
    find: "return after - (before ?? 0);",
    replace: "return before === null ? null : after;",
    test: verdicts,
    name: "a session's verdicts on local > want of memory",
  },
  {
    id: "session: the time limit counts from the request",
    file: "src/workloads/session/run-in-session.ts",
    find: "return useWith(session, needs, caller, async (opened, { signal }) => {",
    replace: `const askedMs = dependencies.monotonicMs();
  return useWith(session, needs, caller, async (opened, { signal }) => {
    call = { ...call, timeoutMs: Math.max(1, call.timeoutMs - (dependencies.monotonicMs() - askedMs)) };`,
    test: verdicts,
    name: "when a call of a session had to wait",
  },
  {
    id: "execute: the time limit counts from the request",
    file: "src/workloads/execute/execute.ts",
    find: "async function executeAs(ids: RunIds, { spec, dependencies, caller, listener }: Execution): Promise<ExecuteResult> {",
    replace: `async function executeAs(ids: RunIds, { spec: asked, dependencies, caller, listener }: Execution): Promise<ExecuteResult> {
  const askedMs = dependencies.monotonicMs();
  const spec = {
    ...asked,
    limits: {
      ...asked.limits,
      get timeoutMs() {
        return Math.max(1, asked.limits.timeoutMs - (dependencies.monotonicMs() - askedMs));
      },
    },
  };`,
    test: verdicts,
    name: "when a one-shot had to wait",
  },
  {
    id: "runs: truncated ignores stderr",
    file: "src/workloads/run/program-result.ts",
    find: "end.stdout.truncated || end.stderr.truncated",
    replace: "end.stdout.truncated",
    test: verdicts,
    name: "what is kept of output on local > says so when stderr alone",
  },
  {
    id: "runs: truncated ignores stdout",
    file: "src/workloads/run/program-result.ts",
    find: "end.stdout.truncated || end.stderr.truncated",
    replace: "end.stderr.truncated",
    test: verdicts,
    name: "what is kept of output on local > says so when stdout alone",
  },
  {
    id: "one-shot: no SIGKILL after the grace time",
    file: processTree,
    find: "  await container.kill();",
    replace: "",
    test: "test/e2e/endings.test.ts",
    name: "a one-shot program on local that runs out of time > is killed when it ignores SIGTERM",
  },
  {
    id: "one-shot: no SIGKILL after the grace time, on an engine",
    file: processTree,
    find: "  await container.kill();",
    replace: "",
    test: "test/e2e/endings.test.ts",
    name: "a one-shot program on docker that runs out of time",
  },
  {
    id: "one-shot: no grace time",
    file: processTree,
    find: "export async function endProcessTree(container: Container, process: Process): Promise<void> {\n  await terminate(process);",
    replace: "export async function endProcessTree(container: Container, process: Process): Promise<void> {",
    test: "test/e2e/endings.test.ts",
    name: "a one-shot program on local that runs out of time > is killed when it ignores SIGTERM",
  },
  {
    id: "process tree: no SIGKILL after the grace time",
    file: processTree,
    find: `    await process.kill("SIGKILL");
    return "clean";`,
    replace: `    return "clean";`,
    test: "test/engine-contract/contract.local.test.ts",
    name: "process-tree.sigkill",
  },
  {
    id: "session: what an earlier call left reads the next call's secret",
    file: "src/engines/supervised/container/program-process.ts",
    find: "(program.hasExited && (await program.left()).count === 0)",
    replace: "program.hasExited",
    test: "test/e2e/session-secrets.test.ts",
    name: "secrets in a session on docker > are not read by what an earlier call left behind",
  },
  {
    id: "tests: what the installation left rewrites trusted tests",
    file: "src/engines/supervised/container/program-process.ts",
    find: "(program.hasExited && (await program.left()).count === 0)",
    replace: "program.hasExited",
    test: "test/e2e/test-runs.test.ts",
    name: "nothing that the installation left rewrites them",
  },
  {
    id: "environment: no SIGKILL after the grace time",
    file: processTree,
    find: `    await process.kill("SIGKILL");
    return "clean";`,
    replace: `    return "clean";`,
    test: "test/e2e/endings.test.ts",
    name: "a command of an environment on docker",
  },
];

const encodings: readonly Sabotage[] = [
  {
    id: "a file in another encoding is refused in words of a request",
    file: "src/cli/run/read-program.ts",
    find: "if (offset !== null) throw notUtf8(name, bytes, offset);",
    replace: "",
    test: "src/cli/run/read-program.test.ts",
    name: "in another encoding is refused in words of the file",
  },
  {
    id: "a one-shot is not told that its coding line contradicts it",
    file: "src/operations/execute/execute-handler.ts",
    find: "...notices, ...coding, ...engineNotes",
    replace: "...notices, ...engineNotes, ...coding.slice(9)",
    test: "test/e2e/source-encodings.test.ts",
    name: "on local > is warned of where its coding line contradicts",
  },
  {
    id: "a session is not told that its coding line contradicts it",
    file: "src/operations/session/run-code-handler.ts",
    find: "(keepsVariables ? []",
    replace: "(!keepsVariables ? []",
    test: "test/e2e/source-encodings.test.ts",
    name: "on local > is warned of where its coding line contradicts",
  },
];

const demands: readonly Sabotage[] = [
  {
    id: "runs: a call that ended its interpreter does not say that variables are gone",
    file: "src/workloads/session/run-in-session.ts",
    find: "const endsNow = keepsVariables && !live.keepsVariablesOf(toolchain);",
    replace: "const endsNow = keepsVariables && live.interpreters.size === 0;",
    test: "test/e2e/session-variables.test.ts",
    name: "on docker that keeps variables > loses them with its interpreter",
  },
  {
    id: "runs: containers have the hosts of the engine's machine",
    file: "src/engines/docker-api/mounts/supervisor-volume.ts",
    find: 'target: "/etc/hosts" };',
    replace: 'target: "/etc/hosts-of-nobody" };',
    test: "test/e2e/known-place.test.ts",
    name: "on podman > knows its user, its home and its host",
  },
  {
    id: "runs: a container's program is named by the first user that there is",
    file: "src/engines/user-names.ts",
    find: "`glovebox:x:${uid}:${gid}:glovebox:${home}:/bin/sh`",
    replace: "`glovebox:x:1${uid}:${gid}:glovebox:${home}:/bin/sh`",
    test: "src/engines/docker-api/mounts/supervisor-volume.test.ts",
    name: "names the user of each container and nobody else",
  },
  {
    id: "runs: an error in a kept interpreter shows the line that Python found by the call's name",
    file: "images/runners/python-interpreter.py",
    find: "error.text = lines[error.lineno - 1]",
    replace: "pass",
    test: "test/e2e/session-variables.test.ts",
    name: "on docker that keeps variables > shows the call's own line of every error",
  },
  {
    id: "runs: an error in a kept interpreter shows our frames between its own",
    file: "images/runners/python-interpreter.py",
    find: "at.tb_next = skip(at.tb_next)",
    replace: "pass",
    test: "test/e2e/session-variables.test.ts",
    name: "on docker that keeps variables > shows the call's own line of every error",
  },
  {
    id: "runs: standard streams that a call has closed stay so",
    file: "images/runners/python-interpreter.py",
    find: "if not is_usable(number):",
    replace: "if False:",
    test: "test/e2e/session-variables.test.ts",
    name: "on docker that keeps variables > has its streams again after a call that closed",
  },
  {
    id: "runs: a task that ends a call of a kept interpreter leaves its code to the next",
    file: "images/runners/python-interpreter.py",
    find: "task.cancel()",
    replace: "pass",
    test: "test/e2e/session-variables.test.ts",
    name: "on docker that keeps variables > awaits at the top level",
  },
  {
    id: "runs: the exception of a call is given with its control characters",
    file: "src/workloads/session/variables/plain-exception.ts",
    find: '.replace(controls, "")',
    replace: "",
    test: "src/workloads/session/variables/plain-exception.test.ts",
    name: "plain text without secrets",
  },
  {
    id: "runs: the environment variables of one call stay",
    file: "images/runners/python-interpreter.py",
    find: "            restore_variables(before)",
    replace: "            pass",
    test: "test/e2e/session-variables.test.ts",
    name: "on docker that keeps variables > gives one call environment variables",
  },
  {
    id: "runs: programs at preload take environment variables of a call",
    file: "src/workloads/session/run-in-session.ts",
    find: "if (Object.keys(call.variables).length > 0 && runsInterpretersOnly(capabilities))",
    replace: "if (Object.keys(call.variables).length < 0)",
    test: "test/e2e/sessions-preload.test.ts",
    name: "take no environment variables for a call",
  },
  {
    id: "runs: a message of any length is taken from an interpreter",
    file: "src/workloads/session/variables/read-report.ts",
    find: "z.string().max(maxException.value)",
    replace: "z.string()",
    test: "src/workloads/session/variables/kept-interpreter.test.ts",
    name: "whose report is a message without bound",
  },
  {
    id: "runs: standard streams that a call of JavaScript has replaced stay so",
    file: "images/runners/javascript-interpreter.cjs",
    find: "for (const [key, value] of Object.entries(own))",
    replace: "for (const [key, value] of [])",
    test: "test/e2e/session-variables-javascript.test.ts",
    name: "of node on docker > has its streams again",
  },
  {
    id: "runs: an interpreter's report of any length is taken",
    file: "src/workloads/session/variables/read-report.ts",
    find: "if (length > maxReportBytes) return false;",
    replace: "",
    test: "src/workloads/session/variables/kept-interpreter.test.ts",
    name: "whose report is more than is taken",
  },
  {
    id: "session: min_isolation is ignored",
    file: "src/workloads/program/check-engine.ts",
    find: "    minIsolation,\n    optional",
    replace: '    minIsolation: "preload",\n    optional',
    test: minIsolation,
    name: "an isolation that local cannot give > is refused when a one-shot or a call",
  },
  {
    id: "environment: min_isolation is ignored",
    file: "src/workloads/environment/environment-plan.ts",
    find: "minIsolation: spec.minIsolation,",
    replace: 'minIsolation: "preload",',
    test: "src/workloads/environment/environment-plan.test.ts",
    name: "is refused where the engine seals less",
  },
  {
    id: "execute: the operator's min_isolation is ignored",
    file: "src/config/schema/settings-schema.ts",
    find: "minIsolation: keys.min_isolation,",
    replace: 'minIsolation: "preload",',
    test: minIsolation,
    name: "an isolation that local cannot give > is refused when the operator demands it",
  },
  {
    id: "session: variables of the host reach programs",
    file: "src/workloads/session/program-variables.ts",
    find: "    ...own,",
    replace: '    ...own,\n    USER: String(process.env["USER"]),',
    test: hostVariables,
    name: "on local > of sessions",
  },
  {
    id: "session: the host's agent socket reaches programs",
    file: "src/workloads/session/program-variables.ts",
    find: "    ...own,",
    replace: '    ...own,\n    SSH_AUTH_SOCK: String(process.env["SSH_AUTH_SOCK"]),',
    test: hostVariables,
    name: "on local > of sessions",
  },
  {
    id: "environment: variables of the host reach commands",
    file: "src/workloads/environment/open-environment.ts",
    find: "        ...spec.hostEnvironment,",
    replace: '        ...spec.hostEnvironment,\n        USER: String(process.env["USER"]),',
    test: hostVariables,
    name: "environments on docker > in commands",
  },
  {
    id: "execute: the host's HOME reaches programs",
    file: "src/policy/profile.ts",
    find: '...{ HOME: temporaryFolder, LANG: "C.UTF-8" },',
    replace: '...{ HOME: String(process.env["HOME"]), LANG: "C.UTF-8" },',
    test: hostVariables,
    name: "on local > of one-shots",
  },
  {
    id: "execute: the host's PATH reaches programs",
    file: "src/policy/profile.ts",
    find: '...{ HOME: temporaryFolder, LANG: "C.UTF-8" },',
    replace: '...{ HOME: temporaryFolder, LANG: "C.UTF-8", PATH: String(process.env["PATH"]) },',
    test: hostVariables,
    name: "on local > of one-shots",
  },
  {
    id: "copy in: follows a link in a file's place",
    file: "src/sandbox/copy/read-host-tree.ts",
    find: "(constants.O_NOFOLLOW ?? 0)",
    replace: "0",
    test: "src/sandbox/copy/read-host-tree.test.ts",
    name: "takes a file's place between the look and the opening",
  },
];

/** How runs end, what they are told, and what they demand. */
export const runsSabotages: readonly Sabotage[] = [...verdictsOfRuns, ...encodings, ...demands];
