import { realpath } from "node:fs/promises";
import path from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import { portablePath } from "../../base/portable-path.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { dialectsOf } from "../../packages/dialects.ts";
import { maxContextBytes, type FileBytes } from "../../policy/request/context-files.ts";
import { isWithin } from "../../policy/mounts/mount-policy.ts";
import { mountRefused } from "../../policy/mounts/mount-verdict.ts";
import { judgeHostPath, type JudgedPath, type MountGate } from "../../sandbox/mounts/mount-gate.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";

/** A context file, named by its path relative to the code. */
export interface OpenContextFile extends AsyncDisposable {
  readonly path: string;
  /**
   * Code is in memory, because it is searched and compiled before it runs; other files can be read until this is
   * disposed.
   */
  readonly content: Uint8Array | FileBytes;
}

export interface ContextFileOptions {
  /** Name of the entry in errors. */
  readonly field: string;
  /** Whether files other than code are read into memory too; default false. */
  readonly inMemory?: boolean | undefined;
}

/**
 * Opens a file that the caller named by its path on this machine, if the mount gate allows it.
 *
 * The bytes are those of exactly the file that was checked, wherever its name leads by then. It keeps its path relative
 * to the working directory, or if it is elsewhere, to the root that allows it.
 * @throws INVALID_REQUEST naming the field: missing, unreadable, not a regular file, code of more than 16 MiB, or
 * outside the roots
 * @throws POLICY_DENIED naming the field and the rule: a blocked pattern or a protected place
 */
export async function openContextFile(
  given: string,
  gate: MountGate,
  { field, inMemory = false }: ContextFileOptions,
): Promise<OpenContextFile> {
  const judged = await judgeHostPath(gate, { path: given, use: "project", access: "read-only", isMain: false });
  try {
    const { verdict, place } = judged;
    if (verdict.rule === "missing") throw invalidField(field, "a file that exists", given);
    if (place === null) throw mountRefused(verdict, field, given);
    if (place.kind !== "file") throw invalidField(field, "a file (name the files of a folder one by one)", given);
    const name = await nameOf(given, gate.workingDirectory, judged);
    const content = await open(place, inMemory || isCode(name)).catch((error: unknown) => {
      throw invalidField(field, "a file that can be read", given, error);
    });
    if (content === null) throw tooLarge(field, given);
    return {
      path: name,
      content,
      [Symbol.asyncDispose]: async () => {
        if ("read" in content) await content[Symbol.asyncDispose]();
        await judged[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await judged[Symbol.asyncDispose]();
    throw error;
  }
}

/** Null: too large to hold in memory. */
function open(place: OpenPlace, inMemory: boolean): Promise<Uint8Array | (FileBytes & AsyncDisposable) | null> {
  return inMemory ? place.readFile(maxContextBytes) : place.openBytes();
}

function isCode(name: string): boolean {
  return /\.pyw?$/i.test(name) || dialectsOf(name.toLowerCase()).length > 0;
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
  const message = `${field}: expected a file of ${limit}, because it is held in memory, got ${JSON.stringify(given)}.`;
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: `Give a file of ${limit}, all such files together.`,
    context: { field },
  });
}
