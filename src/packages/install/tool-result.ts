import { BoundedOutput } from "../../base/streams/bounded-output.ts";
import { kibibyte } from "../../base/bytes.ts";
import type { Process } from "../../engines/engine.ts";
import { cannotReachRegistry, explainInstallFailure, findsNoVersion } from "./explain-install-failure.ts";
import { installFailed } from "./install-failed.ts";
import type { Installation } from "./install.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";

/** How an installing tool ended, and all that it wrote, as far as it is kept. */
export interface ToolResult {
  readonly exitCode: number | null;
  readonly output: string;
}

const maxOutputBytes = 64 * kibibyte;

/** Reads the tool to its end. */
export async function toolResult(process: Process): Promise<ToolResult> {
  const kept = { stdout: new BoundedOutput(maxOutputBytes), stderr: new BoundedOutput(maxOutputBytes) };
  for await (const { stream, bytes } of process.output) kept[stream].append(bytes);
  const { exitCode } = await process.exit;
  return { exitCode, output: `${kept.stderr.text()}\n${kept.stdout.text()}` };
}

export interface FailureNotes {
  /** What else there is to say, a few words each. */
  readonly also: readonly string[];
  /** What would allow what was refused to it on its way. */
  readonly remedy?: string | undefined;
}

/** The error of a tool that failed. */
export function toolFailed(installation: Installation, result: ToolResult, notes: FailureNotes): GloveboxError {
  const { specs, minAge } = installation;
  const { packages, reason } = explainInstallFailure({ ...installation, ...result });
  const words = [reason, ...notes.also].join("; ");
  if (notes.remedy !== undefined) return installFailed(packages, words, { suggestion: notes.remedy });
  if (cannotReachRegistry(result.output)) {
    return installFailed(specs, `the package registry could not be reached (${words})`, {
      suggestion:
        "Nothing is wrong with the packages' names. Try again later, or have the operator look at the registry that npm and pip of the machine are set up for.",
      context: { retryable: true },
    });
  }
  if (minAge !== null && findsNoVersion(result.output)) {
    const hours = Math.round(minAge.ms / 360_000) / 10;
    return installFailed(packages, words, {
      suggestion: `Check the package's name and version. One published less than ${hours} hours ago is not taken: packages.min_age (GLOVEBOX_PACKAGES_MIN_AGE) is the operator's.`,
      context: { setting: "packages.min_age" },
    });
  }
  return installFailed(packages, words);
}
