import { runLine } from "../dependencies/run-line.ts";
import { concludeRun, judgeRun, unlessLost } from "../run/conclude-run.ts";
import { explainEnding, type RunWords } from "../run/explain-ending.ts";
import { networkWarnings } from "../run/network-report.ts";
import { beginReporting, bunReport, reporterVariables, reportsFolder } from "./command-variables.ts";
import { removeReportFile, collectReportFile, listNames, readWhole } from "./report-file.ts";
import {
  uncounted,
  type PhaseResult,
  type ReadyTests,
  type TestRun,
  type TestsPlace,
  type CountedTests,
  type TestsSpec,
} from "./test-run.ts";
import { runnerOf, runnerTable, watchedTools, runnerNamedIn, countBunSummaries, findSummary } from "./runner-table.ts";
import { judgeTests, type EndedTests, type ReportState } from "./verdict.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { copyFolder } from "../project/copy-project.ts";
import { readReports, maxReportBytes, type ReadReports, type RawReport } from "./report/read-reports.ts";
import { testStatuses, type TestCounts, type TestStatus } from "./report/test-report.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { CheckedContextFile } from "../../policy/request/context-files.ts";
import { runSandboxCommand } from "../../sandbox/sandbox-command.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createId } from "../../base/id.ts";
import { readPackagedScript } from "../../base/packaged-script.ts";
import type { NewTreeEntry } from "../../sandbox/files/file-way.ts";
import { createHash, timingSafeEqual, createHmac } from "node:crypto";
import type { Kit } from "../../base/kit.ts";

const words: RunWords = {
  subject: "command",
  sandbox: "The sandbox",
  suggestions: {},
  outOfMemory: (limit) => `The tests ran out of their ${limit} of memory.`,
};

/** Runs the tests, reads their reports when nothing of them lives any more, and judges them. @throws as `runTests` */
export async function runTestPhase(run: TestRun, ready: ReadyTests, at: TestsPlace): Promise<PhaseResult> {
  const { spec, dependencies, caller, listener } = run;
  const { signal } = caller;
  const { ids, sandbox, record, profile } = at;
  const { reporters } = ready.project;
  if (spec.reportFile !== undefined) await removeReportFile(sandbox, spec.reportFile, { signal });
  await layTrustedFiles(sandbox, spec.trustedFiles, { signal });
  const [seeds, { oomKills: oomKillsBefore }] = await Promise.all([
    placeReporters(sandbox.files, { signal }),
    sandbox.stats(),
  ]);
  const startMs = dependencies.now();
  const ended = await runLine(sandbox, {
    ...dependencies,
    ...ready,
    line: `${beginReporting}${spec.testCommand}`,
    environment: { ...profile.environment, ...reporterVariables(profile.environment, reporters, spec.onlyTests) },
    timeoutMs: spec.limits.timeoutMs,
    signal,
    onOutput: ({ stream, bytes }) => listener.onOutput(stream, bytes),
    onDenied: listener.onDenied,
  });
  const isReadable = ended.isGone && ended.end.exitCode !== null;
  const collect = { seeds, expectsBun: reporters.bun, reportFile: spec.reportFile, signal };
  let collected: CollectedReports | null = null;
  const judged = await judgeRun({
    sandbox,
    record,
    end: ended.end,
    isLost: async () => {
      if (sandbox.state !== "running") return true;
      if (!isReadable) return false;
      collected = await unlessLost(sandbox, collectReports(sandbox.files, collect), { signal });
      return collected === null;
    },
    oomKillsBefore,
    networkReport: () => Promise.resolve(ended.networkReport),
  });
  const output = ended.output.text();
  const counting = { ...dependencies, output, startMs, signal };
  // Its bytes are here: reading them does not need the sandbox any more.
  const [{ counted, state, runs }] = await Promise.all([countReports(spec, collected, counting), sandbox.remove()]);
  const error = concludeRun(judged, {
    ids,
    logger: dependencies.logger,
    explain: (each) => explainEnding(each, words, spec.limits),
  });
  const { end, outcome, memoryPeakBytes } = judged;
  return {
    ...counted,
    ...judgeTests({
      outcome,
      exitCode: end.exitCode,
      isGone: ended.isGone,
      state,
      runs,
      named: runnerNamedIn(spec.testCommand),
    }),
    outcome,
    exitCode: end.exitCode,
    output,
    truncated: ended.output.truncated,
    durationMs: end.durationMs,
    memoryPeakBytes,
    warnings: networkWarnings(ended.networkReport, outcome),
    error,
  };
}

/** The numbers of a run, and what its verdict needs to know of them. */
interface CountedReports {
  readonly counted: CountedTests;
  readonly state: ReportState;
  readonly runs: EndedTests["runs"];
}

interface CountOptions extends CallOptions, Pick<Kit, "now" | "platform"> {
  readonly executable: string;
  readonly output: string;
  readonly startMs: number;
}

/** Counts by the reports, or where there are none by what the runner printed. @throws CANCELLED */
async function countReports(
  { testCommand, wanted }: TestsSpec,
  collected: CollectedReports | null,
  { output, startMs, now, ...options }: CountOptions,
): Promise<CountedReports> {
  if (collected === null) return { counted: uncounted, state: "missing", runs: [] };
  const runner = collected.started ?? runnerNamedIn(testCommand);
  if (collected.state !== "read") return bySummary(collected.state, runner, output);
  const header = { folder: copyFolder, wanted, startMs, stopMs: now() };
  const read = await readReports(collected.reports, { ...header, ...options });
  const hasBun = collected.reports.some(({ format }) => format === "bun");
  if (read === null || (hasBun && !agreesWithBun(read, output))) return bySummary("unreadable", runner, output);
  const runs = hasBun ? read.runs.map((run) => withUnloaded(run, output)) : read.runs;
  return {
    counted: {
      ...byReport(read),
      from: sourceOf(collected.reports),
      counts: sumOf(runs.map(({ counts }) => counts)),
    },
    state: "read",
    runs,
  };
}

function byReport({ failures, coverage, runs, ctrf, junit, packed }: ReadReports): CountedTests {
  const runners = [...new Set(runs.map(({ runner }) => runner))];
  return { ...uncounted, from: "report", failures, coverage, runners, ctrf, junit, packed };
}

function sourceOf(reports: CollectedReports["reports"]): CountedTests["from"] {
  if (reports.some(({ format }) => format === "file")) return "report_file";
  return reports.some(({ format }) => runnerOf(format)?.tool?.isForPeople) ? "output" : "report";
}

function sumOf(all: readonly TestCounts[]): TestCounts {
  const sum = (status: TestStatus): number => all.reduce((total, counts) => total + counts[status], 0);
  return Object.fromEntries(testStatuses.map((status) => [status, sum(status)])) as Record<TestStatus, number>;
}

/** Bun signs nothing: its report counts only with the same number of tests that passed as Bun prints, once, at its end. */
function agreesWithBun({ runs }: ReadReports, output: string): boolean {
  const printed = countBunSummaries(output) === 1 ? findSummary("bun", output) : null;
  const passed = sumOf(runs.filter(({ runner }) => runner === "bun").map(({ counts }) => counts)).passed;
  return printed !== null && printed.passed === passed;
}

/** Files that Bun could not load are failures that its summary counts and its report leaves out. */
function withUnloaded(run: EndedTests["runs"][number], output: string): EndedTests["runs"][number] {
  const summary = run.runner === "bun" ? findSummary("bun", output) : null;
  if (summary === null || summary.failed <= run.counts.failed) return run;
  return { ...run, counts: { ...run.counts, failed: summary.failed } };
}

function bySummary(state: ReportState, runner: string | null, output: string): CountedReports {
  const found = runner === null || runner === "" ? null : findSummary(runner, output);
  if (runner === null || found === null) return { counted: uncounted, state, runs: [] };
  const counts = { ...uncounted.counts, ...found };
  return { counted: { ...uncounted, from: "summary", counts, runners: [runner] }, state, runs: [] };
}

/** What the runners of a command left. */
interface CollectedReports {
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
async function collectReports(
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

/** What runners and interpreters load by themselves, or take for themselves, from a folder of tests or one above it. */
const planted: readonly string[] = [
  ...runnerTable.flatMap((row) => row.planted ?? []),
  ...["sitecustomize.py", "usercustomize.py"],
  // Settings that npm gives to every program that it starts.
  ".npmrc",
  ...["js", "cjs", "mjs", "json", "ts", "cts"].map((ending) => `babel.config.${ending}`),
  ...["", ".js", ".cjs", ".mjs", ".json"].map((ending) => `.babelrc${ending}`),
  ...["glovebox_report.py", "glovebox_start.py", "glovebox_unittest.py", "glovebox_writer.py"],
];

const removeMs = 60_000;
/** Paths that one command is given, and that all trusted files may come to. */
const maxAtOnce = 1_000;
const maxPaths = 20_000;

/** Files and folders of the project that go before trusted files are laid: none of those themselves. */
export function plantedBeside(trusted: readonly string[]): readonly string[] {
  const folders = new Set(trusted.flatMap(foldersAbove));
  const own = new Set([...trusted, ...folders]);
  return [...folders]
    .flatMap((folder) => planted.map((name) => (folder === "" ? name : `${folder}/${name}`)))
    .filter((path) => !own.has(path));
}

function foldersAbove(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
}

/**
 * Lays trusted files over the project's copy, while nothing of the project runs, and removes configuration that was
 * planted beside them. @throws UNSUPPORTED when that cannot be removed, INVALID_REQUEST for too many folders, and what `SandboxFiles.writeTree` throws
 */
async function layTrustedFiles(
  sandbox: Sandbox,
  trusted: readonly CheckedContextFile[],
  { signal }: CallOptions,
): Promise<void> {
  if (trusted.length === 0) return;
  const own = trusted.map(({ path }) => path);
  const paths = [...plantedBeside(own), ...own].map((path) => `${copyFolder}/${path}`);
  if (paths.length > maxPaths) {
    throw invalidField("trusted_files", "files in fewer folders", `${new Set(own.flatMap(foldersAbove)).size} folders`);
  }
  for (let at = 0; at < paths.length; at += maxAtOnce) {
    const command = ["rm", "-rf", "--", ...paths.slice(at, at + maxAtOnce)];
    const limits = { maxOutputBytes: 64, timeLimitMs: removeMs };
    const { exitCode } = await runSandboxCommand(sandbox, { command, ...limits }, { signal });
    if (exitCode !== 0) throw notRemoved();
  }
  for (const { path, content } of trusted) await sandbox.files.write(`${copyFolder}/${path}`, content, { signal });
}

function notRemoved(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "Configuration beside the trusted files could not be removed.", {
    suggestion: "Use an image with `rm`, and let the set-up leave folders that their owner can write to.",
    context: { field: "trusted_files" },
  });
}

const source = new URL("../../../images/reporters/", import.meta.url);

/** What the keys of reports grow from (see `reportKeys` and `textKeys`). */
interface ReporterSeeds {
  readonly reporters: string;
  readonly shell: string;
}

/** Puts our reporters and fresh seeds into the sandbox; resolves to the seeds. */
async function placeReporters(files: SandboxFiles, options: CallOptions): Promise<ReporterSeeds> {
  const seeds = { reporters: newSeed(), shell: newSeed() };
  const found = (await readdir(source, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:[cm]js|py|sh)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(
    found.map(async (path) => {
      const text = await readPackagedScript(pathToFileURL(path));
      return [relative(fileURLToPath(source), path), Buffer.from(text)] as const;
    }),
  );
  const entries: NewTreeEntry[] = [
    ...["python", "shell"].map((path) => ({ kind: "folder", path, mode: 0o755, modifiedAtMs: 0 }) as const),
    ...contents.map(([path, content]) => fileOf(path.replaceAll("\\", "/"), content)),
    fileOf("seed", Buffer.from(seeds.reporters)),
    fileOf("shell-seed", Buffer.from(seeds.shell)),
    fileOf("tools", Buffer.from(toolLines())),
  ];
  await files.writeTree(reportsFolder, entries, options);
  return seeds;
}

/** A line for each command that `tool.sh` stands before: `go test`. */
export function toolLines(): string {
  return watchedTools
    .flatMap(({ name, tool }) => tool.subcommands.map((subcommand) => `${name} ${subcommand}\n`))
    .join("");
}

function newSeed(): string {
  return `${createId("seed")}-${createId("seed")}`;
}

function fileOf(path: string, content: Uint8Array): NewTreeEntry {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return {
    kind: "file",
    path,
    mode: path.endsWith(".sh") ? 0o755 : 0o644,
    modifiedAtMs: 0,
    sizeBytes: content.length,
    chunks: chunks(),
  };
}

/** Where the signed output of one start of such a program is left, if it was that one. */
interface TextKey {
  /** Its runner's name. */
  readonly tool: string;
  readonly file: string;
  readonly key: string;
}

/** As `reportKeys`, for a shell that has `sha256sum` and no more. */
export function textKeys(seed: string): readonly TextKey[] {
  const keys: TextKey[] = [];
  for (let own = seed; keys.length < maxReports * watchedTools.length; own = hash(`next ${own}`)) {
    for (const { name: tool } of watchedTools) {
      keys.push({ tool, file: hash(`name ${tool} ${own}`).slice(0, 32), key: hash(`key ${tool} ${own}`) });
    }
  }
  return keys;
}

/** The output without its signature, null when it is not signed with this key. */
export function verifiedText(bytes: Uint8Array, key: string): Uint8Array | null {
  const end = bytes.indexOf(10);
  const body = bytes.subarray(end + 1);
  const inner = createHash("sha256").update(key).update(body).digest("hex");
  const expected = Buffer.from(hash(`${key}${inner}`));
  const given = bytes.subarray(0, Math.max(end, 0));
  return given.length === expected.length && timingSafeEqual(given, expected) ? body : null;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Runners that one command may start, one after another. */
export const maxReports = 16;

/** Where the report of one start of a runner is left, and the key that it is signed with. */
interface ReportKey {
  readonly file: string;
  readonly key: string;
}

/**
 * Names and keys of the reports that grow from a seed, in the order in which runners start. Each runner replaces the seed
 * before it runs a test, so that what a test starts cannot sign as its runner.
 */
export function reportKeys(seed: string): readonly ReportKey[] {
  const keys: ReportKey[] = [];
  for (let own = seed; keys.length < maxReports; own = derive(own, "next")) {
    keys.push({ file: derive(own, "name").slice(0, 32), key: derive(own, "key") });
  }
  return keys;
}

/** The report without its signature, null when it is not signed with this key. */
export function verifiedReport(bytes: Uint8Array, key: string): Uint8Array | null {
  const end = bytes.indexOf(10);
  const body = bytes.subarray(end + 1);
  const expected = Buffer.from(createHmac("sha256", key).update(body).digest("hex"));
  const given = bytes.subarray(0, Math.max(end, 0));
  return given.length === expected.length && timingSafeEqual(given, expected) ? body : null;
}

function derive(seed: string, purpose: string): string {
  return createHmac("sha256", seed).update(purpose).digest("hex");
}
