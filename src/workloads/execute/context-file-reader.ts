import { realpath } from "node:fs/promises";
import path from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import { portablePath } from "../../base/portable-path.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { maxContextBytes } from "../../policy/request/context-files.ts";
import { isWithin } from "../../policy/mounts/mount-policy.ts";
import { mountRefused } from "../../policy/mounts/mount-refused.ts";
import { judgeHostPath, type JudgedPath, type MountGate } from "../../sandbox/mounts/mount-gate.ts";

/** A context file in memory, named by where it stands beside the code. */
export interface ContextFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/**
 * Reads a file that the caller named by its path on this machine, if the mount gate lets it through.
 *
 * The bytes are those of the very file that was judged, whatever its name leads to by then. It keeps its path relative
 * to the working directory, or to the root that allows it when it lies elsewhere.
 * @throws INVALID_REQUEST naming the field: missing, unreadable, no regular file, too large, or outside the roots
 * @throws POLICY_DENIED naming the field and the rule: a blocked pattern or a protected place
 */
export async function readContextFile(given: string, gate: MountGate, field: string): Promise<ContextFile> {
  await using judged = await judgeHostPath(gate, {
    path: given,
    use: "project",
    access: "read-only",
    isMain: false,
  });
  const { verdict, place } = judged;
  if (verdict.rule === "missing") throw invalidField(field, "a file that exists", given);
  if (place === null) throw mountRefused(verdict, field, given);
  if (place.kind !== "file") throw invalidField(field, "a file (name the files of a folder one by one)", given);
  const content = await place.readFile(maxContextBytes).catch((error: unknown) => {
    throw invalidField(field, "a file that can be read", given, error);
  });
  if (content === null) throw tooLarge(field, given);
  return { path: await nameOf(given, gate.workingDirectory, judged), content };
}

async function nameOf(given: string, workingDirectory: string, { found, verdict }: JudgedPath): Promise<string> {
  const realFolder = await realpath(workingDirectory);
  const named = path.resolve(realFolder, given);
  const relative = isWithin(named, realFolder)
    ? path.relative(realFolder, named)
    : path.relative(verdict.root?.path ?? realFolder, found?.realPath ?? named);
  return portablePath(relative);
}

function tooLarge(field: string, given: string): GloveboxError {
  const limit = `at most ${formatBytes(maxContextBytes)}`;
  return new GloveboxError("INVALID_REQUEST", `${field}: expected a file of ${limit}, got ${JSON.stringify(given)}.`, {
    suggestion: `Give a file of ${limit}, all context files together.`,
    context: { field },
  });
}
