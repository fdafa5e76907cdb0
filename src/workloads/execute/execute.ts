import { untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { checkEngine } from "../program/check-engine.ts";
import { compileFiles } from "../program/compile/compile-files.ts";
import { chooseToolchain } from "../program/choose-toolchain.ts";
import {
  provideImports,
  providePackages,
  type Follow,
  type ProgramPackages,
  type ProgramPlace,
} from "../program/provide-packages.ts";
import type { RunnerFile } from "../program/runner-job.ts";
import { syntaxFailure } from "../program/syntax/syntax-failure.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import { refusedResult } from "../run/program-result.ts";
import type { ExecuteResult } from "./execute-result.ts";
import type { ExecuteSpec } from "./execute-spec.ts";
import type { ExecuteDependencies, ExecuteListener, Execution } from "./execution.ts";
import { runInFreshSandbox } from "./run-in-fresh-sandbox.ts";
import { ecosystemOf } from "../../policy/package-specs.ts";
import { checkImports } from "../program/check-imports.ts";
import type { ImportedPackages } from "../../packages/imports/scan-request.ts";

/**
 * Runs a program in a fresh sandbox that is used for nothing else, and removes the sandbox (SPEC EX2).
 *
 * A program that fails, runs out of time or memory, or does not compile is a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, PACKAGE_INSTALL_FAILED, ENGINE_UNAVAILABLE, CAPACITY, and CANCELLED if
 * aborted before it started
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

async function executeAs(ids: RunIds, { spec, dependencies, caller, listener }: Execution): Promise<ExecuteResult> {
  const { engine } = dependencies;
  const { signal } = caller;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  const provideImage = (): Promise<void> => dependencies.provideImage(spec.image, spec.imageOrigin);
  // Without packages nothing but a sandbox of its own needs the image.
  const isSeen =
    capabilities.images && spec.packages.length === 0 && dependencies.warm?.pool.foresees(engine.name, spec.image);
  const toolchain = chooseToolchain({ ...spec, usual: "node" }, capabilities, engine.name);
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
  if (isSeen !== true) await provideImage();
  const place = { engine, capabilities, toolchain };
  const follow = { ...caller, ...listener };
  const { provided, notes } = await programPackages(spec, place, dependencies, follow);
  await using _ = provided;
  const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), signal);
  const ready = {
    toolchain,
    capabilities,
    files: compiled.files,
    packages: provided,
    grant,
    provideImage: isSeen === true ? provideImage : null,
  };
  const result = await runInFreshSandbox(ids, { spec, dependencies, caller, listener }, ready);
  return {
    ...facts,
    ...result,
    packages: provided?.resolved ?? [],
    warnings: [...warnings, ...notes, ...result.warnings],
  };
}

/** The packages that a program gets: those that the request names, or with `auto` those that it imports. */
async function programPackages(
  spec: ExecuteSpec,
  place: ProgramPlace,
  { packages, findImports }: ExecuteDependencies,
  follow: Follow,
): Promise<ProgramPackages> {
  const { language, mainFile, code, contextFiles, dataFiles, packages: named } = spec;
  if (named !== "auto") {
    return { provided: await providePackages({ ...spec, packages: named }, place, packages, follow), notes: [] };
  }
  const others = contextFiles.map(({ path, content }) => ({ path, content: Buffer.from(content).toString("utf8") }));
  const data = dataFiles.map(({ path }) => ({ path, content: "" }));
  const files = [{ path: mainFile, content: code }, ...others, ...data];
  let found: ImportedPackages;
  try {
    found = await findImports({ language, files }, follow);
  } catch (error) {
    if (follow.signal?.aborted === true || !(error instanceof GloveboxError)) throw error;
    // Code that no parser accepts may still run.
    return { provided: null, notes: [`No package was looked for. ${error.message}`] };
  }
  return provideImports(checkImports(found, ecosystemOf(language)), spec, place, packages, follow);
}
