import type { CallOptions } from "../../../engines/engine.ts";
import type { SandboxFiles } from "../../../sandbox/files/sandbox-files.ts";
import { maxReportBytes, type RawReport } from "../report/read-reports.ts";
import { reportKeys, verifiedReport } from "../report/signed-report.ts";
import { textKeys, verifiedText } from "../report/signed-text.ts";
import type { ReportState } from "../verdict.ts";
import { bunReport, reportsFolder } from "./folders.ts";
import type { ReporterSeeds } from "./place-reporters.ts";
import { listNames, readWhole } from "./read-whole.ts";
import { collectReportFile } from "./report-file.ts";

/** What the runners of a command left. */
export interface CollectedReports {
  readonly state: ReportState;
  readonly reports: readonly RawReport[];
  /** Of a runner that started and left no report: its name as it told it. */
  readonly started: string | null;
}

interface CollectOptions extends CallOptions {
  readonly seeds: ReporterSeeds;
  readonly expectsBun: boolean;
  /** Where the request says that a tool leaves its report, in the project's copy. */
  readonly reportFile: string | undefined;
}

/** Our own files, the reports, and what little may lie beside them. */
const maxEntries = 200;
const maxStartedBytes = 1_000;

/** Reads the reports out of a sandbox in which nothing of the program lives any more. Whatever lies there is untrusted. */
export async function collectReports(
  files: Pick<SandboxFiles, "list" | "read">,
  { seeds, expectsBun, reportFile, signal }: CollectOptions,
): Promise<CollectedReports> {
  const found = await listNames(files, reportsFolder, { maxEntries, signal });
  if (found === null) return { state: "unreadable", reports: [], started: null };
  const reports: RawReport[] = [];
  let started: string | null = null;
  let room = maxReportBytes;
  for (const { file, format, verified } of expectedReports(seeds)) {
    if (found.has(`${file}.started`) && !found.has(file)) started = await startedRunner(files, file, signal);
    if (!found.has(file)) continue;
    const bytes = await readWhole(files, `${reportsFolder}/${file}`, { room, signal });
    const body = bytes === null ? null : verified(bytes);
    if (body === null) return { state: "unreadable", reports: [], started };
    room -= body.length;
    reports.push({ format, bytes: body });
  }
  if (expectsBun && found.has(bunReport)) {
    const bytes = await readWhole(files, `${reportsFolder}/${bunReport}`, { room, signal });
    if (bytes === null) return { state: "unreadable", reports: [], started };
    reports.push({ format: "bun", bytes });
  }
  if (started !== null) return { state: "missing", reports: [], started };
  // What nothing signed is read where no runner of ours told of itself.
  if (reports.length > 0 || reportFile === undefined)
    return { state: reports.length > 0 ? "read" : "none", reports, started };
  const named = await collectReportFile(files, reportFile, { signal });
  return { state: named === null ? "missing" : "read", reports: named ?? [], started };
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

async function startedRunner(
  files: Pick<SandboxFiles, "read">,
  file: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const bytes = await readWhole(files, `${reportsFolder}/${file}.started`, { room: maxStartedBytes, signal });
  const text = bytes === null ? "" : Buffer.from(bytes).toString("utf8");
  return /^\{"runner": ?"([a-z:]{1,20})"\}$/.exec(text)?.[1] ?? "";
}
