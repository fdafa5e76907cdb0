import { kibibyte, mebibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { runSandboxCommand, type CommandSandbox, type SandboxCommandResult } from "../sandbox-command.ts";
import { findScript, parseList, parseRead, readBatchScript } from "./batch-scripts.ts";
import type { BatchFile, BatchRequest } from "./file-way.ts";

/** Maximum bytes of paths to look through. */
const maxListBytes = mebibyte;
const listTimeMs = 10_000;
const readTimeMs = 20_000;

/** As `FileWay.findFiles`. @throws UNSUPPORTED when the sandbox lacks the tools, CANCELLED, SANDBOX_LOST */
export async function findInside(
  sandbox: CommandSandbox,
  folder: string,
  { signal }: CallOptions,
): Promise<readonly Uint8Array[]> {
  const command = ["sh", "-c", findScript, "sh", folder];
  const limits = { maxOutputBytes: maxListBytes, timeLimitMs: listTimeMs };
  const listed = await runSandboxCommand(sandbox, { command, ...limits }, { signal });
  assertTools(listed);
  return parseList(listed.stdout.bytes());
}

/** As `FileWay.readBatch`, with one command. @throws UNSUPPORTED when the sandbox lacks the tools, CANCELLED, SANDBOX_LOST */
export async function readBatchInside(
  sandbox: CommandSandbox,
  folder: string,
  { paths, maxFileBytes, maxBytes, signal }: BatchRequest,
): Promise<readonly BatchFile[]> {
  const names = paths.map((path) => `./${path}`);
  const command = ["sh", "-c", readBatchScript, "sh", folder, String(maxFileBytes), String(maxBytes), ...names];
  // Base64 with its line ends takes 77 bytes for 57; sizes and dots come to little.
  const maxOutputBytes = Math.ceil((maxBytes * 77) / 57) + 64 * kibibyte;
  const read = await runSandboxCommand(sandbox, { command, maxOutputBytes, timeLimitMs: readTimeMs }, { signal });
  assertTools(read);
  return parseRead(read.stdout.bytes());
}

/** Other failures (an unreadable folder, a time limit) keep what was found. */
function assertTools({ exitCode, stderr }: SandboxCommandResult): void {
  const missing = /^sh: (?:line )?(?:\d+: )?(?:exec: )?(?:find|stat|head|base64): (?:command )?not found$/m;
  if (exitCode !== 127 && !missing.test(stderr.text())) return;
  throw new GloveboxError("UNSUPPORTED", "The sandbox lacks find, stat, head or base64, which artifacts need.", {
    suggestion: "Choose an image with these tools, or print the results instead of asking for artifacts.",
  });
}
