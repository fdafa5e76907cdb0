import { formatBytes } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import { workFolder, type ScratchDivision } from "../../policy/scratch.ts";
import type { ExecuteSpec } from "./execute-spec.ts";

/** A file system allocates whole pages. */
const pageBytes = 4096;

/**
 * Refuses files that do not fit in the working folder, before a sandbox is started for them.
 * @throws INVALID_REQUEST
 */
export function assertFilesFit(
  { code, contextFiles, dataFiles }: Pick<ExecuteSpec, "code" | "contextFiles" | "dataFiles">,
  { places, difference }: ScratchDivision,
  capabilities: Pick<Capabilities, "scratch">,
): void {
  const room = places.find(({ path }) => path === workFolder)?.sizeBytes;
  // Without a size of its own, it is subject to the disk limit, or to none at all.
  if (room === undefined || capabilities.scratch === "none") return;
  const sizes = [...contextFiles.map(({ content }) => content.length), ...dataFiles.map(({ sizeBytes }) => sizeBytes)];
  if (sizes.length === 0) return;
  const needed = [Buffer.byteLength(code), ...sizes].reduce((sum, size) => sum + wholePages(size), 0);
  if (needed <= room) return;
  const why = difference === null ? "" : ` (${difference})`;
  throw new GloveboxError(
    "INVALID_REQUEST",
    `context_files: expected at most ${formatBytes(room)} in all files, which is the room of the working folder${why}, found ${formatBytes(needed)}.`,
    {
      suggestion:
        "Raise limits.memory_mb, or name limits.disk_mb: where the engine can, what is more than half of the memory limit is then kept on disk.",
      context: { field: "context_files" },
    },
  );
}

function wholePages(bytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes;
}
