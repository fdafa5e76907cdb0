import type { CallOptions } from "../../../engines/engine.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { SandboxFiles } from "../../../sandbox/files/sandbox-files.ts";
import { maxReportBytes, type RawReport } from "../report/read-reports.ts";
import { reportKeys, verifiedReport } from "../report/signed-report.ts";
import { textKeys, verifiedText } from "../report/signed-text.ts";
import type { ReportState } from "../verdict.ts";
import { bunReport, reportsFolder } from "./folders.ts";
import type { ReporterSeeds } from "./place-reporters.ts";

/** What the runners of a command left. */
export interface CollectedReports {
  readonly state: ReportState;
  readonly reports: readonly RawReport[];
  /** Of a runner that started and left no report: its name as it told it. */
  readonly started: string | null;
}

/** Our own files, the reports, and what little may lie beside them. */
const maxEntries = 200;
const maxStartedBytes = 1_000;

/** Reads the reports out of a sandbox in which nothing of the program lives any more. Whatever lies there is untrusted. */
export async function collectReports(
  files: Pick<SandboxFiles, "list" | "read">,
  { seeds, expectsBun, signal }: CallOptions & { readonly seeds: ReporterSeeds; readonly expectsBun: boolean },
): Promise<CollectedReports> {
  const found = await listed(files, signal);
  if (found === null) return { state: "unreadable", reports: [], started: null };
  const reports: RawReport[] = [];
  let started: string | null = null;
  let room = maxReportBytes;
  for (const { file, format, verified } of expectedReports(seeds)) {
    if (found.has(`${file}.started`) && !found.has(file)) started = await startedRunner(files, file, signal);
    if (!found.has(file)) continue;
    const bytes = await readWhole(files, file, { room, signal });
    const body = bytes === null ? null : verified(bytes);
    if (body === null) return { state: "unreadable", reports: [], started };
    room -= body.length;
    reports.push({ format, bytes: body });
  }
  if (expectsBun && found.has(bunReport)) {
    const bytes = await readWhole(files, bunReport, { room, signal });
    if (bytes === null) return { state: "unreadable", reports: [], started };
    reports.push({ format: "bun", bytes });
  }
  if (started !== null) return { state: "missing", reports: [], started };
  return { state: reports.length > 0 ? "read" : "none", reports, started };
}

interface ExpectedReport {
  readonly file: string;
  readonly format: RawReport["format"];
  readonly verified: (bytes: Uint8Array) => Uint8Array | null;
}

/** Of our reporters in the order in which they started, then of the shell that stands before tools in the same. */
function expectedReports({ reporters, shell }: ReporterSeeds): readonly ExpectedReport[] {
  return [
    ...reportKeys(reporters).map(({ file, key }): ExpectedReport => {
      return { file, format: "glovebox", verified: (bytes) => verifiedReport(bytes, key) };
    }),
    ...textKeys(shell).map(({ tool, file, key }): ExpectedReport => {
      return { file, format: tool, verified: (bytes) => verifiedText(bytes, key) };
    }),
  ];
}

async function listed(files: Pick<SandboxFiles, "list">, signal: AbortSignal | undefined): Promise<Set<string> | null> {
  try {
    const { entries, isTruncated } = await files.list(reportsFolder, { maxEntries, signal });
    return isTruncated ? null : new Set(entries.map(({ path }) => path));
  } catch (error) {
    return nullUnlessOurs(error, signal);
  }
}

async function startedRunner(
  files: Pick<SandboxFiles, "read">,
  file: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const bytes = await readWhole(files, `${file}.started`, { room: maxStartedBytes, signal });
  const text = bytes === null ? "" : Buffer.from(bytes).toString("utf8");
  return /^\{"runner": ?"([a-z:]{1,20})"\}$/.exec(text)?.[1] ?? "";
}

/** A file's bytes; null when it is larger, cannot be read, or is no file. */
async function readWhole(
  files: Pick<SandboxFiles, "read">,
  name: string,
  { room, signal }: { readonly room: number; readonly signal: AbortSignal | undefined },
): Promise<Uint8Array | null> {
  try {
    const { chunks } = await files.read(`${reportsFolder}/${name}`, { maxBytes: room + 1, signal });
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

/** What a program put in the way of reading is its doing; the end of its sandbox, or of the call, is not. */
function nullUnlessOurs(error: unknown, signal: AbortSignal | undefined): null {
  if (signal?.aborted === true) throw error;
  const type = error instanceof GloveboxError ? error.errorType : "INTERNAL";
  if (["NOT_FOUND", "INVALID_REQUEST", "PERMISSION_DENIED", "POLICY_DENIED", "TIMEOUT"].includes(type)) return null;
  throw error;
}
