import type { BoundedOutput } from "../../base/streams/bounded-output.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Limits } from "../../policy/limits/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import { toolchains, type Toolchain } from "../program/languages.ts";
import type { RunnerFile } from "../program/runner-job.ts";
import { missingModule } from "../program/missing-module.ts";
import { findSyntaxError } from "../program/syntax/syntax-error.ts";
import { syntaxFailure } from "../program/syntax/syntax-failure.ts";
import type { JudgedRun } from "./conclude-run.ts";
import { explainEnding, type RunWords } from "./explain-ending.ts";
import { explainFailure } from "./explain-failure.ts";
import { explainLostProxy } from "./explain-network.ts";

/** What a program was run with, as far as its errors show it. */
export interface ExplainedProgram {
  readonly toolchain: Toolchain;
  readonly limits: Limits;
  readonly files: readonly RunnerFile[];
  readonly network: NetworkPolicy;
  /** What the interpreter calls a file; default: the path in `/work`. */
  readonly nameOf?: ((path: string) => string) | undefined;
}

const words: RunWords = {
  subject: "program",
  sandbox: "The sandbox",
  suggestions: {},
  outOfMemory: (limit) => `The program ran out of its ${limit} of memory.`,
};

/** The error of a program that a runner ran, or null when there is nothing to explain. */
export function explainProgram(run: JudgedRun<BoundedOutput>, program: ExplainedProgram): GloveboxError | null {
  const { timeoutMs, memoryBytes } = program.limits;
  return explainEnding({
    ...run,
    words,
    timeoutMs,
    memoryBytes,
    explainFailure: () => explainFailedProgram(run, program),
  });
}

function explainFailedProgram(
  { end, networkReport }: JudgedRun<BoundedOutput>,
  { toolchain, files, nameOf, network }: ExplainedProgram,
): GloveboxError | null {
  if (networkReport.isLost) return explainLostProxy();
  const stderr = end.stderr.text();
  const { interpreter } = toolchains[toolchain];
  if (end.exitCode === 127 && stderr.trimEnd().endsWith(`${interpreter}: not found`)) return noInterpreter(interpreter);
  const found = findSyntaxError({ toolchain, stderr, exitCode: end.exitCode ?? 0, files, nameOf });
  if (found !== null) return syntaxFailure(found);
  return missingModule(toolchain, stderr) ?? explainFailure(stderr, network.kind, networkReport.lookedUp);
}

function noInterpreter(interpreter: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `The image has no ${interpreter}.`, {
    suggestion: "Name an image that has it, or leave runtime and image out.",
    context: { missing: interpreter, retryable: false },
  });
}
