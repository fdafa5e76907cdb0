import { BoundedOutput } from "../../base/streams/bounded-output.ts";
import { kibibyte } from "../../base/bytes.ts";
import type { Process } from "../../engines/engine.ts";
import { explainInstallFailure } from "./explain-install-failure.ts";
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

/** The error of a tool that failed, with what else there is to say, in one line. */
export function toolFailed(installation: Installation, result: ToolResult, also: readonly string[]): GloveboxError {
  const { packages, reason } = explainInstallFailure({ ...installation, ...result });
  return installFailed(packages, [reason, ...also].join("; "));
}
