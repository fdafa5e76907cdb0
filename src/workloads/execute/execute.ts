import { untilCancelled } from "../../base/abort.ts";
import type { Logger } from "../../base/logger.ts";
import { followedBy } from "../../base/streams/chunks.ts";
import { createId } from "../../base/id.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import {
  type Capabilities,
  assertEnforceable,
  assertNetworkPossible,
  optionalDemands,
  runsInterpretersOnly,
} from "../../engines/capabilities.ts";
import type { Engine, ExecSpec, PullProgress } from "../../engines/engine.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { executeProfile } from "../../policy/profile.ts";
import { Redaction } from "../../policy/redaction/redaction.ts";
import { decideOutcome } from "../../sandbox/outcome.ts";
import { redactedOutput } from "../../sandbox/secrets/redacted-output.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { nodeCommands, shellCommands } from "./artifact-commands.ts";
import { collectArtifacts, type Artifact } from "./artifacts.ts";
import { compileFiles } from "../program/compile/compile-files.ts";
import type { ExecuteResult } from "./execute-result.ts";
import type { ExecuteSpec } from "./execute-spec.ts";
import { ensureImage } from "../program/ensure-image.ts";
import { explainEnding } from "../run/explain-ending.ts";
import { networkWarnings } from "../run/explain-network.ts";
import { secretWarnings } from "../run/explain-secrets.ts";
import { runnerCommand, toolchains, type Toolchain } from "../program/languages.ts";
import { logEnding, loggingFailure, type RunIds } from "../run/log-ending.ts";
import { planOf } from "../program/plan-of.ts";
import type { FindImports } from "../program/find-imports.ts";
import { providePackages } from "../program/provide-packages.ts";
import { wantedPackages } from "./wanted-packages.ts";
import { readRunner } from "../program/read-runner.ts";
import { withRealFolders } from "../program/real-folders.ts";
import { redactArtifact } from "./redact-artifact.ts";
import { encodeJob, workFolder, type RunnerFile } from "../program/runner-job.ts";
import { syntaxFailure } from "../program/syntax/syntax-failure.ts";
import type { CompileTypeScript } from "../program/compile/typescript-compiler.ts";
import { runProgram, type ProgramEnd } from "../run/run-program.ts";
import { startProgram, type GrantNetwork } from "../run/start-program.ts";

export interface ExecuteDependencies {
  readonly packages: Pick<Packages, "provide">;
  readonly findImports: FindImports;
  readonly engine: Engine;
  readonly sandboxes: Sandboxes;
  readonly logger: Logger;
  /** Cap of each output stream in bytes (SPEC OU3). */
  readonly maxOutputBytes: number;
  readonly compileTypeScript: CompileTypeScript;
  readonly network: GrantNetwork;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/** What an execution tells while it goes on. */
export interface ExecuteListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** What goes on with packages, in words for people. */
  readonly onPackages: (message: string) => void;
  readonly onPull: (image: string, progress: PullProgress) => void;
}

/** Time beyond the program's own that a sandbox may need before any sweep may take it: starting, artifacts, removal. */
const lifetimeMarginMs = 300_000;

/**
 * Runs a program in a fresh sandbox that no other run ever sees and removes it (SPEC EX2).
 *
 * A program that fails, runs out of time or memory, or does not compile is a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, PACKAGE_INSTALL_FAILED, ENGINE_UNAVAILABLE, CAPACITY, and CANCELLED when given
 * up before it started
 */
export function execute(
  spec: ExecuteSpec,
  dependencies: ExecuteDependencies,
  caller: Caller,
  listener: ExecuteListener,
): Promise<ExecuteResult> {
  const ids: RunIds = { principal: caller.principal };
  return loggingFailure(dependencies.logger, ids, () => executeAs(ids, { spec, dependencies, caller, listener }));
}

interface Execution {
  readonly spec: ExecuteSpec;
  readonly dependencies: ExecuteDependencies;
  readonly caller: Caller;
  readonly listener: ExecuteListener;
}

async function executeAs(ids: RunIds, { spec, dependencies, caller, listener }: Execution): Promise<ExecuteResult> {
  const { engine } = dependencies;
  const capabilities = await engine.capabilities({ signal: caller.signal, ociRuntime: spec.ociRuntime });
  const { warnings } = assertEnforceable(capabilities, {
    engine: engine.name,
    minIsolation: spec.minIsolation,
    optional: optionalDemands(capabilities, spec.explicitDemands),
  });
  if (spec.network.kind !== "none") assertNetworkPossible(capabilities, engine.name);
  const withoutShell = runsInterpretersOnly(capabilities);
  const toolchain: Toolchain = spec.language === "python" ? "python" : (capabilities.javascript ?? "node");
  const code: RunnerFile = { path: spec.mainFile, content: Buffer.from(spec.code) };
  const compiled = await compileFiles([code, ...spec.contextFiles], toolchain, {
    compile: dependencies.compileTypeScript,
    signal: caller.signal,
  });
  if ("syntaxError" in compiled)
    return notCompiled(syntaxFailure(compiled.syntaxError), {
      engine,
      capabilities,
      ociRuntime: spec.ociRuntime,
      warnings,
    });
  await ensureImage(spec, engine, { signal: caller.signal, onPull: listener.onPull });
  const place = { engine, capabilities, toolchain };
  const packages = await wantedPackages(spec, dependencies.findImports, caller);
  await using provided = await providePackages({ ...spec, packages }, place, dependencies.packages, {
    ...caller,
    ...listener,
  });
  const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), caller.signal);
  const profile = executeProfile({
    image: spec.image,
    ociRuntime: spec.ociRuntime,
    limits: spec.limits,
    scratchStorage: capabilities.scratch,
    minIsolation: spec.minIsolation,
    network: spec.network,
    networkEnvironment: grant?.environment,
    packageEnvironment: provided?.environment,
    hostEnvironment: spec.hostEnvironment,
    environment: { ...toolchains[toolchain].environment, ...spec.environment },
  });
  const redaction = new Redaction(spec.secrets);
  const runnerSource = await readRunner(toolchain);
  const mounts = provided === null ? [] : [provided.mount];
  await using sandbox = await dependencies.sandboxes.open(
    engine,
    { ...planOf(profile, spec.limits.timeoutMs + lifetimeMarginMs), mounts },
    caller,
  );
  ids.sandbox = sandbox.id;
  listener.onSandbox(sandbox.id);
  const folder = sandbox.folderOf(profile.workingDirectory);
  const runner: ExecSpec = {
    command: runnerCommand({ toolchain, mainFile: spec.mainFile, source: runnerSource, folder, withoutShell }),
    environment: withRealFolders(profile.environment, sandbox),
    workingDirectory: profile.workingDirectory,
  };
  using program = await startProgram({
    sandbox,
    runner: (companion) => sandbox.exec({ ...runner, companion }, { signal: caller.signal }),
    toolchain,
    grant,
    onDenied: listener.onDenied,
    redact: (text) => redaction.text(text),
    signal: caller.signal,
  });
  const { process } = program;
  const job = encodeJob({
    main: spec.mainFile,
    arguments: spec.arguments,
    environment: Object.fromEntries(spec.secrets.map(({ variable, value }) => [variable, value])),
    files: compiled.files,
    folder,
  });
  const ended = await runProgram({
    process,
    output: redactedOutput(process.output, redaction),
    input: followedBy(job, spec.stdin),
    timeoutMs: spec.limits.timeoutMs,
    maxOutputBytes: dependencies.maxOutputBytes,
    onOutput: (chunk) => listener.onOutput(chunk.stream, chunk.bytes),
    signal: caller.signal,
    end: () => sandbox.endProcess(process),
    monotonicMs: dependencies.monotonicMs,
  });
  // Removed by somebody else meanwhile: whatever the exit code says, it is not the program's own.
  const end: ProgramEnd =
    sandbox.state === "running" ? ended : { ...ended, interruption: ended.interruption ?? "lost" };
  const stats = await sandbox.stats();
  const networkReport = await program.networkReport();
  const outcome = decideOutcome({ ...end, oomKills: stats.oomKills, refusals: networkReport.denialCount });
  const written = await artifactsOf(spec, sandbox, end, { ...caller, withoutShell });
  const artifacts = written.map((artifact) => redactArtifact(artifact, redaction));
  await sandbox.remove();
  const explained = explainEnding({
    outcome,
    toolchain,
    end,
    limits: spec.limits,
    memoryPeakBytes: stats.memoryPeakBytes,
    files: compiled.files,
    network: spec.network,
    networkReport,
    folder,
  });
  logEnding(dependencies.logger, { ids, outcome, end, networkReport });
  const notes = [
    provided?.warnings ?? [],
    profile.scratch.note ?? [],
    grant?.warnings ?? [],
    networkWarnings(networkReport),
    secretWarnings(redaction),
  ].flat();
  return {
    outcome,
    exitCode: end.exitCode,
    stdout: end.stdout.text(),
    stderr: end.stderr.text(),
    durationMs: end.durationMs,
    memoryPeakBytes: stats.memoryPeakBytes,
    truncated: end.stdout.truncated || end.stderr.truncated,
    sandboxId: sandbox.id,
    engine: engine.name,
    isolation: capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    packages: provided?.resolved ?? [],
    artifacts,
    warnings: [...warnings, ...notes],
    error: explained,
  };
}

/** A program that never reached a sandbox, told like one that its interpreter refused. */
function notCompiled(
  error: GloveboxError,
  {
    engine,
    capabilities,
    ociRuntime,
    warnings,
  }: {
    readonly engine: Engine;
    readonly capabilities: Capabilities;
    readonly ociRuntime: string | undefined;
    readonly warnings: readonly string[];
  },
): ExecuteResult {
  return {
    outcome: "failed",
    exitCode: 1,
    stdout: "",
    stderr: `SyntaxError: ${error.message}\n`,
    durationMs: 0,
    memoryPeakBytes: null,
    truncated: false,
    sandboxId: createId("sbx"),
    engine: engine.name,
    isolation: capabilities.isolation,
    ociRuntime: ociRuntime ?? null,
    packages: [],
    artifacts: [],
    warnings,
    error,
  };
}

/** Artifacts of a program that ended by itself; a sandbox that was ended by force has none to give. */
async function artifactsOf(
  spec: ExecuteSpec,
  sandbox: Sandbox,
  end: ProgramEnd,
  { signal, withoutShell }: Caller & { readonly withoutShell: boolean },
): Promise<readonly Artifact[]> {
  if (spec.artifacts.length === 0 || end.interruption !== null) return [];
  const ownPaths = [spec.mainFile, ...spec.contextFiles.map((file) => file.path)];
  return collectArtifacts({
    sandbox,
    globs: spec.artifacts,
    ownPaths,
    folder: sandbox.folderOf(workFolder),
    commands: withoutShell ? nodeCommands : shellCommands,
    signal,
  });
}
