import { mebibyte } from "../../../base/bytes.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { ErrorType } from "../../../errors/catalogue.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { WorkArchive, WorkArchives } from "../../../sandbox/work-archives.ts";

/** In addition to the files' bytes, an archive has at least half a kibibyte for each. */
const overheadBytes = 64 * mebibyte;
/** Bytes that are written at once: an archive arrives in pieces as small as a header. */
const pieceBytes = mebibyte;

/** What says nothing about the files. */
const notTheirs: ReadonlySet<ErrorType> = new Set([
  "CANCELLED",
  "TIMEOUT",
  "SANDBOX_LOST",
  "OOM_KILLED",
  "ENGINE_UNAVAILABLE",
]);

/** Keeps the files of the working folder outside the sandbox. @throws what `SandboxFiles.pack` throws */
export async function saveWork(
  { files }: Pick<Sandbox, "files">,
  archives: WorkArchives,
  {
    folder,
    principal,
    sizeBytes,
    signal,
  }: CallOptions & {
    readonly folder: string;
    readonly principal: string;
    readonly sizeBytes: number;
  },
): Promise<WorkArchive> {
  const maxBytes = sizeBytes + overheadBytes;
  try {
    const content = inLargePieces(files.pack(folder, { maxBytes, signal }));
    return await archives.save(content, { principal, maxBytes });
  } catch (error) {
    throw notKept("saved", error);
  }
}

/** Puts the files back into a new sandbox. @throws what `SandboxFiles.unpack` throws */
export async function restoreWork(
  { files }: Pick<Sandbox, "files">,
  archive: WorkArchive,
  { folder, signal }: CallOptions & { readonly folder: string },
): Promise<void> {
  try {
    await files.unpack(folder, archive.read(), { signal });
  } catch (error) {
    throw notKept("restored", error);
  }
}

async function* inLargePieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < pieceBytes) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

function notKept(what: "saved" | "restored", error: unknown): unknown {
  if (!(error instanceof GloveboxError) || notTheirs.has(error.errorType)) return error;
  const message = `The files of a session could not be ${what}: ${error.message}`;
  return new GloveboxError(error.errorType, message, {
    suggestion:
      what === "saved"
        ? "Remove from the working folder what cannot be packed, or use another session that names its packages in its first call."
        : "End the session and begin another.",
    context: error.context,
    cause: error,
  });
}
