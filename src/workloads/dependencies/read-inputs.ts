import { isUtf8 } from "node:buffer";
import { mebibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { BatchFile, BatchRequest } from "../../sandbox/files/file-way.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { copyFolder } from "../project/copy-project.ts";
import type { InputFiles } from "./installers/installer.ts";

const maxFileBytes = 16 * mebibyte;
const maxBytes = 32 * mebibyte;

/** The files that an installer reads from a project's copy. */
export interface ReadInputs {
  readonly files: InputFiles;
  /** Whether that is everything requested: nothing was too large, unreadable or not text. */
  readonly isWhole: boolean;
}

/** Empty if the image lacks the tools to read many files at once. */
async function readBatch({ files }: Pick<Sandbox, "files">, request: BatchRequest): Promise<readonly BatchFile[]> {
  try {
    return await files.readBatch(copyFolder, request);
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "UNSUPPORTED") return [];
    throw error;
  }
}

/**
 * Reads files of the copy, so files that were left out of it are not read either. @throws what `SandboxFiles.readBatch`
 * throws
 */
export async function readInputs(
  sandbox: Pick<Sandbox, "files">,
  paths: readonly string[],
  { signal }: CallOptions,
): Promise<ReadInputs> {
  const read = await readBatch(sandbox, { paths, maxFileBytes, maxBytes, signal });
  const files: Record<string, string> = {};
  let isWhole = read.length === paths.length;
  for (const [index, { sizeBytes, unreadable, bytes }] of read.entries()) {
    const name = paths[index] ?? "";
    if (bytes !== null && isUtf8(bytes)) files[name] = Buffer.from(bytes).toString("utf8");
    else if (unreadable || sizeBytes !== null) isWhole = false;
  }
  return { files, isWhole };
}
