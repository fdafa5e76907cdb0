import { untilCancelled } from "../../base/abort.ts";
import { assertRunsAnyProgram } from "../../engines/capabilities.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { planProjectSandbox, provideImageOf, type PlannedSandbox } from "../dependencies/project-sandbox.ts";
import { checkEngine } from "../program/check-engine.ts";
import { loggingFailure, type RunIds } from "../run/conclude-run.ts";
import { readProject, readManifest, readOwnText, scriptRunner, type ReadProject } from "../project/read-project.ts";
import {
  planProject,
  uncounted,
  type TestRun,
  type TestsDependencies,
  type PhaseResult,
  type ReadyTests,
  type TestsPlace,
  type TestsResult,
  type TestsSpec,
} from "./test-run.ts";
import type { ProjectRunListener } from "../project/project-run.ts";
import { firstLine } from "./verdict.ts";
import { Redaction } from "../../policy/redaction.ts";
import { describeCommand } from "../run/describe-work.ts";
import { copyProject } from "../project/copy-project.ts";
import { runTestPhase } from "./test-phase.ts";
import {
  explainInstallation,
  installDependencies,
  type InstalledDependencies,
} from "../dependencies/install-dependencies.ts";
import type { EndedLine } from "../dependencies/run-line.ts";
import { networkWarnings } from "../run/network-report.ts";
import { readdir } from "node:fs/promises";
import { HostFolder } from "../../base/host-folder.ts";
import { onHost } from "../../sandbox/copy/on-host.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";

/**
 * Runs a project's tests in a fresh sandbox, on a copy of the project that is never written back, and removes it
 * (SPEC TE). Tests that fail, or cannot be run, are a result; so is an image that is not available.
 * @throws UNSUPPORTED, ENGINE_UNAVAILABLE, CAPACITY, POLICY_DENIED for a project that is too large, and CANCELLED when
 * given up before the tests started
 */
export async function runTests(
  spec: TestsSpec,
  dependencies: TestsDependencies,
  caller: Caller,
  listener: ProjectRunListener,
): Promise<TestsResult> {
  const ids: RunIds = { principal: caller.principal };
  const { engine, logger } = dependencies;
  const { capabilities, warnings } = await loggingFailure(logger, ids, async () => {
    const checked = await checkEngine({ ...spec, engine }, spec, caller);
    assertRunsAnyProgram(checked.capabilities, "that tests a project");
    return checked;
  });
  const run = { spec, dependencies, caller, listener, capabilities };
  try {
    const result = await loggingFailure(logger, ids, () => prepareAndRun(ids, run));
    return { ...result, warnings: [...warnings, ...result.warnings] };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType !== "IMAGE_UNAVAILABLE") throw error;
    return withoutImage(error, ids, run, warnings);
  }
}

/** A command that runs a project's tests, and what in the project says so. */
interface FoundTests {
  readonly command: string;
  /** Ends a sentence: "package.json has a script `test`". */
  readonly why: string;
}

/** What the choice is made of; texts are empty where a file is missing. */
interface ProjectFacts {
  /** Names in the project's folder. */
  readonly names: readonly string[];
  /** `package.json`. */
  readonly manifest: string;
  /** Files that configure Python's runners, and those that tell what they need, in one text. */
  readonly pythonSettings: string;
  /** Test files of Python, each with its path. */
  readonly pythonTests: readonly { readonly path: string; readonly text: string }[];
  readonly makefile: string;
}

const settingsFiles = ["pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"];
const testFolders = ["tests", "test"];
/** Test files that are read to tell pytest from unittest. */
const maxTests = 20;

/** Looks for the command that runs a project's tests (SPEC TE9). @throws INVALID_REQUEST that names what would be found */
export async function findTests(
  project: Pick<OpenPlace, "stablePath">,
  platform: NodeJS.Platform,
): Promise<FoundTests> {
  const { names, manifest } = await readProject(project, platform);
  await using folder = await HostFolder.of(project, platform);
  const read = async (name: string): Promise<string> => (names.includes(name) ? readOwnText(folder, name) : "");
  const pythonSettings = (await Promise.all(settingsFiles.map(read))).join("\n");
  const facts = { names, manifest, pythonSettings, makefile: await read("Makefile") };
  const found = chooseTests({ ...facts, pythonTests: await readTests(folder, names) });
  if (found !== null) return found;
  throw invalidField(
    "test_command",
    "a command, since nothing in the project says how its tests are run (a script `test` in package.json, go.mod, Cargo.toml, pytest's settings, files such as test_*.py or *.test.js, or a target `test` in a Makefile would)",
    "nothing",
  );
}

const javascriptRunners = [
  ["vitest", "npx vitest run"],
  ["jest", "npx jest"],
  ["mocha", "npx mocha"],
] as const;

const lockfiles = /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$/;

/**
 * What to tell where a project lists dependencies and nothing will be installed, since no lockfile says which; null: there
 * is nothing to tell.
 */
export function unlockedNote({ names, manifest }: ReadProject): string | null {
  if (names.some((name) => lockfiles.test(name)) || !hasDependencies(manifest)) return null;
  return "package.json lists dependencies, but there is no lockfile, so nothing was installed before the tests. Make one with `npm install`, or pass a setup_command (--setup) such as `npm install`.";
}

function hasDependencies(manifest: string): boolean {
  try {
    const { dependencies, devDependencies } = (JSON.parse(manifest) ?? {}) as Readonly<Record<string, unknown>>;
    return [dependencies, devDependencies].some((each) => Object.keys(each ?? {}).length > 0);
  } catch {
    return false;
  }
}

/** Chooses by what the project says most clearly: its own script before a runner's settings, and those before bare files. */
function chooseTests(facts: ProjectFacts): FoundTests | null {
  return byManifest(facts) ?? byToolchain(facts) ?? byPython(facts) ?? byFiles(facts) ?? byMakefile(facts);
}

function byManifest({ manifest, names }: ProjectFacts): FoundTests | null {
  const { scripts, dependencies } = readManifest(manifest);
  const script = scripts["test"];
  // What `npm init` writes runs nothing.
  if (script !== undefined && !script.includes("no test specified")) {
    const runner = scriptRunner(names);
    return {
      command: `${runner === "bun run" ? runner : runner.replace(" run", "")} test`,
      why: `package.json has a script \`test\`: ${script.slice(0, 200)}`,
    };
  }
  const runner = javascriptRunners.find(([name]) => dependencies.includes(name));
  return runner === undefined ? null : { command: runner[1], why: `package.json depends on ${runner[0]}` };
}

function byToolchain({ names }: ProjectFacts): FoundTests | null {
  if (names.includes("go.mod")) return { command: "go test ./...", why: "there is a go.mod" };
  return names.includes("Cargo.toml") ? { command: "cargo test", why: "there is a Cargo.toml" } : null;
}

function byPython({ names, pythonSettings, pythonTests }: ProjectFacts): FoundTests | null {
  const pytest = (why: string): FoundTests => ({ command: "python3 -m pytest", why });
  const file = ["pytest.ini", ".pytest.ini", "conftest.py"].find((name) => names.includes(name));
  if (file !== undefined) return pytest(`there is a ${file}`);
  if (/\bpytest\b/.test(pythonSettings)) return pytest("the project's settings or requirements name pytest");
  const own = pythonTests.find(
    ({ text }) => /^(?:import|from) pytest\b/m.test(text) || /^(?:async )?def test_/m.test(text),
  );
  if (own !== undefined) return pytest(`${own.path} has tests of pytest`);
  const first = pythonTests.find(({ text }) => /\bunittest\b/.test(text));
  if (first === undefined) return null;
  const folder = first.path.includes("/") ? ` discover -s ${first.path.split("/", 1)[0]}` : "";
  return { command: `python3 -m unittest${folder}`, why: `${first.path} has tests of unittest` };
}

function byFiles({ names }: ProjectFacts): FoundTests | null {
  const file = names.find((name) => /\.(?:test|spec)\.[cm]?[jt]sx?$/.test(name));
  const isBun = names.some((name) => /^bun\.lockb?$|^bunfig\.toml$/.test(name));
  if (isBun) return { command: "bun test", why: "the project is one of Bun" };
  return file === undefined ? null : { command: "node --test", why: `there is a ${file}` };
}

function byMakefile({ makefile }: ProjectFacts): FoundTests | null {
  return /^test\s*:(?!=)/m.test(makefile) ? { command: "make test", why: "the Makefile has a target `test`" } : null;
}

async function readTests(folder: HostFolder, names: readonly string[]): Promise<ProjectFacts["pythonTests"]> {
  const found: { readonly path: string; readonly text: string }[] = [];
  const add = async (within: HostFolder, files: readonly string[], prefix: string): Promise<void> => {
    for (const name of files
      .filter((each) => /^test.*\.py$|_test\.py$/.test(each))
      .toSorted()
      .slice(0, maxTests))
      found.push({ path: `${prefix}${name}`, text: await readOwnText(within, name) });
  };
  await add(folder, names, "");
  for (const name of testFolders.filter((each) => names.includes(each))) {
    const below = await folder.enter(name).catch(() => null);
    if (below === null) continue;
    await using opened = below;
    await add(opened, await onHost(name, readdir(opened.self)), `${name}/`);
  }
  return found;
}

async function prepareAndRun(ids: RunIds, run: TestRun): Promise<TestsResult> {
  const { spec, dependencies, caller } = run;
  const project = planProject(spec, await readProject(spec.project, dependencies.platform));
  const { image, environment: imageEnvironment } = await provideImageOf(
    spec,
    project.tools.image,
    { ...dependencies, ...run.listener, capabilities: run.capabilities },
    caller,
  );
  const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), caller.signal);
  return runInSandbox(ids, run, { project, image, imageEnvironment, grant });
}

/** Tests that had no image to run in could not run: that says nothing about them (SPEC TE3). */
function withoutImage(
  error: GloveboxError,
  ids: RunIds,
  { spec, dependencies, capabilities }: TestRun,
  warnings: readonly string[],
): TestsResult {
  return {
    ...uncounted,
    verdict: "could_not_run",
    reason: firstLine(error.message),
    outcome: "failed",
    exitCode: null,
    output: "",
    truncated: false,
    durationMs: 0,
    memoryPeakBytes: null,
    image: spec.image ?? null,
    setupCommand: null,
    sandboxId: ids.sandbox ?? null,
    engine: dependencies.engine.name,
    isolation: capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    policyDigest: ids.record?.policyDigest ?? null,
    warnings,
    error,
  };
}

/** Opens a sandbox, copies the project, installs, tests, reads the results and removes it. @throws as `runTests` */
async function runInSandbox(ids: RunIds, run: TestRun, ready: ReadyTests): Promise<TestsResult> {
  const { spec, dependencies, caller, listener, capabilities } = run;
  await using planned = await planSandbox(run, ready);
  const { profile, scratch } = planned;
  const plan = { ...planned.plan, id: spec.sandboxId, givenName: spec.name };
  await using sandbox = await dependencies.sandboxes.open(dependencies.engine, plan, caller);
  scratch?.watch(sandbox);
  ids.sandbox = sandbox.id;
  const work = describeCommand(spec.testCommand, new Redaction([]));
  const { limits, network } = spec;
  const record = (ids.record = sandbox.beginRun({ ...ids, work, timeoutMs: limits.timeoutMs, network }));
  listener.onSandbox(sandbox.id);
  const at = { ids, sandbox, record, profile };
  const { leftOut, line, result } = await runPhases(run, ready, at).catch((error: unknown) => {
    throw scratch?.error ?? error;
  });
  return {
    ...result,
    ...endedForDisk(scratch?.error ?? null),
    image: capabilities.images ? ready.image : null,
    setupCommand: line,
    sandboxId: sandbox.id,
    engine: dependencies.engine.name,
    isolation: capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    policyDigest: record.policyDigest,
    warnings: [profile.scratch.note ?? [], leftOut, ready.grant?.warnings ?? [], result.warnings].flat(),
  };
}

async function runPhases(
  run: TestRun,
  ready: ReadyTests,
  at: TestsPlace,
): Promise<{ readonly leftOut: readonly string[]; readonly line: string | null; readonly result: PhaseResult }> {
  const { spec, dependencies, caller, listener } = run;
  listener.onProgress("Copying the project");
  const source = { ...spec, maxBytes: spec.limits.diskBytes };
  const leftOut = await copyProject(source, at.sandbox, { signal: caller.signal, platform: dependencies.platform });
  const { line, warnings, result } = await install(run, ready, at);
  return { leftOut: [...leftOut, ...warnings], line, result: result ?? (await runTestPhase(run, ready, at)) };
}

/** Any reports disappeared with the sandbox. */
function endedForDisk(error: GloveboxError | null): Partial<TestsResult> {
  if (error === null) return {};
  return { ...uncounted, verdict: "could_not_run", reason: firstLine(error.message), outcome: "sandbox_lost", error };
}

/**
 * Installs what the tests need; resolves to the shell line that did, and to the result of a run that did not reach its
 * tests, null when all went well.
 * @throws what starting a command throws
 */
async function install(
  run: TestRun,
  ready: ReadyTests,
  { sandbox, record, profile }: TestsPlace,
): Promise<Pick<InstalledDependencies, "line" | "warnings"> & { readonly result: PhaseResult | null }> {
  const { spec, dependencies, caller, listener } = run;
  const { environment } = profile;
  const keeping = {
    ...dependencies,
    ociRuntime: spec.ociRuntime,
    diskBytes: spec.limits.diskBytes,
    planLike: () => planSandbox(run, ready),
  };
  const what = { ...ready.project, image: ready.image, keeping, environment, timeoutMs: spec.setupTimeoutMs };
  const { line, failed, warnings } = await installDependencies(
    sandbox,
    { ...dependencies, ...listener, ...what },
    caller,
  );
  return { line, warnings, result: line === null || failed === null ? null : notInstalled(line, failed, record) };
}

function notInstalled(line: string, ended: EndedLine, record: TestsPlace["record"]): PhaseResult {
  const error = explainInstallation(line, ended);
  const { exitCode, durationMs } = ended.end;
  const outcome = error.errorType === "CANCELLED" ? "cancelled" : "failed";
  record.end({ outcome, exitCode, durationMs, errorType: error.errorType });
  return {
    ...uncounted,
    verdict: "could_not_run",
    reason: firstLine(error.message),
    outcome,
    exitCode,
    output: ended.output.text(),
    truncated: ended.output.truncated,
    durationMs,
    memoryPeakBytes: null,
    warnings: networkWarnings(ended.networkReport, outcome),
    error,
  };
}

/** A sandbox for the tests, or one like it for what they need. @throws what `planProjectSandbox` throws */
function planSandbox({ spec, dependencies, capabilities }: TestRun, ready: ReadyTests): Promise<PlannedSandbox> {
  return planProjectSandbox(spec, { ...ready, kind: "test", capabilities }, dependencies);
}
