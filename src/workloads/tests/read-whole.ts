import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";

/** A file's bytes; null when it is larger than `room` bytes, cannot be read, or is no file. @throws when the sandbox or the call has ended */
export async function readWhole(
  files: Pick<SandboxFiles, "read">,
  path: string,
  { room, signal }: CallOptions & { readonly room: number },
): Promise<Uint8Array | null> {
  try {
    const { chunks } = await files.read(path, { maxBytes: room + 1, signal });
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of chunks) {
      pieces.push(chunk);
      bytes += chunk.length;
    }
    return bytes > room ? null : Buffer.concat(pieces);
  } catch (error) {
    return nullUnlessOurs(error, signal);
  }
}

/** Paths in a folder, relative to it; null when they are more than `maxEntries`, or it is not a folder that can be read. @throws as `readWhole` */
export async function listNames(
  files: Pick<SandboxFiles, "list">,
  folder: string,
  { maxEntries, signal }: CallOptions & { readonly maxEntries: number },
): Promise<ReadonlySet<string> | null> {
  try {
    const { entries, isTruncated } = await files.list(folder, { maxEntries, signal });
    return isTruncated ? null : new Set(entries.map(({ path }) => path));
  } catch (error) {
    return nullUnlessOurs(error, signal);
  }
}

/** What a program put in the way of reading is its doing; the end of its sandbox, or of the call, is not. */
function nullUnlessOurs(error: unknown, signal: AbortSignal | undefined): null {
  if (signal?.aborted === true) throw error;
  const type = error instanceof GloveboxError ? error.errorType : "INTERNAL";
  if (["NOT_FOUND", "INVALID_REQUEST", "PERMISSION_DENIED", "POLICY_DENIED", "TIMEOUT"].includes(type)) return null;
  throw error;
}
