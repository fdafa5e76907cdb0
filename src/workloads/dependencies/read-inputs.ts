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

/** What an installer reads of a project's copy. */
export interface ReadInputs {
  readonly files: InputFiles;
  /** Whether that is all of what was asked for: nothing was too large, unreadable or no text. */
  readonly isWhole: boolean;
}

/** None where the image lacks the tools that read many files at once. */
async function readBatch({ files }: Pick<Sandbox, "files">, request: BatchRequest): Promise<readonly BatchFile[]> {
  try {
    return await files.readBatch(copyFolder, request);
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "UNSUPPORTED") return [];
    throw error;
  }
}

/** Reads files of the copy: what was left out of it is not read either. @throws what `SandboxFiles.readBatch` throws */
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
