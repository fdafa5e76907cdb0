import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import { runSandboxCommand } from "../../sandbox/sandbox-command.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { copyFolder } from "../project/copy-project.ts";
import { maxReportBytes, type RawReport } from "./report/read-reports.ts";

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

const removeMs = 60_000;
/** What may lie in a folder of reports, and how many of it are reports. */
const maxEntries = 2_000;
const maxFiles = 1_000;

/** Removes a report that an earlier run left in the project: only what this run writes counts. @throws UNSUPPORTED */
export async function removeReportFile(sandbox: Sandbox, path: string, { signal }: CallOptions): Promise<void> {
  const command = ["rm", "-rf", "--", `${copyFolder}/${path}`];
  const limits = { maxOutputBytes: 64, timeLimitMs: removeMs };
  const { exitCode } = await runSandboxCommand(sandbox, { command, ...limits }, { signal });
  if (exitCode === 0) return;
  throw new GloveboxError("UNSUPPORTED", "An earlier report could not be removed from the copy.", {
    suggestion: "Use an image with `rm`, and let the set-up leave folders that their owner can write to.",
    context: { field: "report_file" },
  });
}

/**
 * The report that a request names: a file, or the XML and JSON files of a folder. Nothing of the program lives any more, and
 * what lies there is untrusted. Resolves to null where there is none, or more than the limits allow.
 */
export async function collectReportFile(
  files: Pick<SandboxFiles, "list" | "read">,
  path: string,
  { signal }: CallOptions,
): Promise<readonly RawReport[] | null> {
  const at = `${copyFolder}/${path}`;
  const bytes = await readWhole(files, at, { room: maxReportBytes, signal });
  if (bytes !== null) return [{ format: "file", bytes }];
  const found = await listNames(files, at, { maxEntries, signal });
  const names = [...(found ?? [])].filter((name) => /\.(?:xml|json)$/.test(name)).toSorted();
  if (names.length === 0 || names.length > maxFiles) return null;
  const reports: RawReport[] = [];
  let room = maxReportBytes;
  for (const name of names) {
    const each = await readWhole(files, `${at}/${name}`, { room, signal });
    if (each === null) return null;
    room -= each.length;
    reports.push({ format: "file", bytes: each });
  }
  return reports;
}

/** What a program put in the way of reading is its doing; the end of its sandbox, or of the call, is not. */
function nullUnlessOurs(error: unknown, signal: AbortSignal | undefined): null {
  if (signal?.aborted === true) throw error;
  const type = error instanceof GloveboxError ? error.errorType : "INTERNAL";
  if (["NOT_FOUND", "INVALID_REQUEST", "PERMISSION_DENIED", "POLICY_DENIED", "TIMEOUT"].includes(type)) return null;
  throw error;
}
