import { untilCancelled } from "../../base/abort.ts";
import type { Logger } from "../../base/logger.ts";
import type { Engine, PullProgress } from "../../engines/engine.ts";
import type { Packages } from "../../packages/packages.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { checkEngine } from "../program/check-engine.ts";
import { compileFiles } from "../program/compile/compile-files.ts";
import type { CompileTypeScript } from "../program/compile/typescript-compiler.ts";
import { ensureImage } from "../program/ensure-image.ts";
import type { FindImports } from "../program/find-imports.ts";
import type { Toolchain } from "../program/languages.ts";
import { providePackages } from "../program/provide-packages.ts";
import type { RunnerFile } from "../program/runner-job.ts";
import { syntaxFailure } from "../program/syntax/syntax-failure.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import { refusedResult } from "../run/program-result.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { ExecuteResult } from "./execute-result.ts";
import type { ExecuteSpec } from "./execute-spec.ts";
import { runInFreshSandbox } from "./run-in-fresh-sandbox.ts";
import { wantedPackages } from "./wanted-packages.ts";

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

/** One execution: what is asked for, by whom, and who is told. */
export interface Execution {
  readonly spec: ExecuteSpec;
  readonly dependencies: ExecuteDependencies;
  readonly caller: Caller;
  readonly listener: ExecuteListener;
}

async function executeAs(ids: RunIds, { spec, dependencies, caller, listener }: Execution): Promise<ExecuteResult> {
  const { engine } = dependencies;
  const { signal } = caller;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  const toolchain: Toolchain = spec.language === "python" ? "python" : (capabilities.javascript ?? "node");
  const code: RunnerFile = { path: spec.mainFile, content: Buffer.from(spec.code) };
  const compiled = await compileFiles([code, ...spec.contextFiles], toolchain, {
    compile: dependencies.compileTypeScript,
    signal,
  });
  const facts = { engine: engine.name, isolation: capabilities.isolation, ociRuntime: spec.ociRuntime ?? null };
  if ("syntaxError" in compiled) {
    const refused = refusedResult(syntaxFailure(compiled.syntaxError), warnings);
    return { ...facts, ...refused, packages: [], artifacts: [] };
  }
  await ensureImage(spec, engine, { signal, onPull: listener.onPull });
  const place = { engine, capabilities, toolchain };
  const packages = await wantedPackages(spec, dependencies.findImports, caller);
  await using provided = await providePackages({ ...spec, packages }, place, dependencies.packages, {
    ...caller,
    ...listener,
  });
  const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), signal);
  const ready = { toolchain, capabilities, files: compiled.files, packages: provided, grant };
  const result = await runInFreshSandbox(ids, { spec, dependencies, caller, listener }, ready);
  return {
    ...facts,
    ...result,
    packages: provided?.resolved ?? [],
    warnings: [...warnings, ...result.warnings],
  };
}
