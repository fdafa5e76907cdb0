import type { AlertSink } from "../../base/alert-sink.ts";
import { stripVTControlCharacters } from "node:util";
import { RingOutput } from "../../base/streams/collected-bytes.ts";
import { kibibyte } from "../../base/bytes.ts";
import { cancelled } from "../../base/abort.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OpenedPreview } from "../../ingress/preview-gateway.ts";
import { Redaction } from "../../policy/redaction.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { explainInstallation, installDependencies } from "../dependencies/install-dependencies.ts";
import type { BackgroundProcess, LaunchedProcess } from "../place/background-processes.ts";
import { connectToProgram } from "../place/program-ports.ts";
import { Place } from "../place/place.ts";
import { copyFolder } from "../project/copy-project.ts";
import { LiveCopy } from "../project/live-copy.ts";
import { describeCommand } from "../run/describe-work.ts";
import { ErrorScanner, type PreviewError, type ErrorScannerListener } from "./error-scanner.ts";
import {
  openPreviewSandbox,
  startServer,
  type PreviewSandbox,
  type PreviewParts,
  type PreviewStart,
  type PreviewSpec,
} from "./preview-sandbox.ts";
import { exitOf, exitOfInstallation, hintsOf, otherPortNote, watchServer } from "./watch-server.ts";
import { LineReader } from "../../base/streams/line-reader.ts";
import type { OutputChunk } from "../../engines/engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Callers that wait for the same thing, each for a time of its own. */
class Waiting {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next `release`, after the given time in milliseconds or when the signal aborts. */
  async wait(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    const give = (): void => resolve();
    this.#waiting.add(give);
    signal?.addEventListener("abort", give, { once: true });
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(give);
    signal?.removeEventListener("abort", give);
  }

  release(): void {
    for (const give of this.#waiting) give();
  }
}

/** A stack trace without another for this long counts as over: the program continues, or has ended. */
const stackOverMs = 10_000;
/** Maximum errors reported per preview and minute: a program can print what it likes. */
const maxPerMinute = 20;

/** The current problem of a preview, reported once when it starts and once when it is over. */
class OngoingErrors {
  readonly #sandbox: string;
  readonly #listener: AlertSink<PreviewError>;
  readonly #monotonicMs: () => number;
  #current: PreviewError | null = null;
  #isTold = false;
  #over: NodeJS.Timeout | undefined;
  #toldAtMs: number[] = [];

  constructor(sandbox: string, listener: AlertSink<PreviewError>, monotonicMs: () => number) {
    this.#sandbox = sandbox;
    this.#listener = listener;
    this.#monotonicMs = monotonicMs;
  }

  /** The newest that is not over. */
  get current(): PreviewError | null {
    return this.#current;
  }

  failed(error: PreviewError): void {
    const isSame = this.#current !== null && keyOf(this.#current) === keyOf(error);
    this.#current = error;
    clearTimeout(this.#over);
    if (error.nature === "stack") this.#over = setTimeout(() => this.recovered(), stackOverMs).unref();
    if (isSame || !this.#mayTell()) return;
    this.#isTold = true;
    this.#listener.happened(this.#sandbox, error);
  }

  /** Nothing is wrong any more, as far as known. */
  recovered(): void {
    clearTimeout(this.#over);
    this.#current = null;
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#listener.ended(this.#sandbox);
  }

  #mayTell(): boolean {
    const nowMs = this.#monotonicMs();
    this.#toldAtMs = this.#toldAtMs.filter((atMs) => nowMs - atMs < 60_000);
    if (this.#toldAtMs.length >= maxPerMinute) return false;
    this.#toldAtMs.push(nowMs);
    return true;
  }
}

function keyOf({ nature, summary, place }: PreviewError): string {
  return JSON.stringify([nature, summary.replace(/^\d{1,2}:\d{2}:\d{2}(?: [AP]M)? /, ""), place]);
}

interface FollowProject {
  readonly sandbox: Pick<Sandbox, "files">;
  readonly onWarning: (message: string) => void;
  /** Ends the copy. */
  readonly over: AbortController;
  /** Aborts only the opening. */
  readonly signal: AbortSignal;
}

/** Copies a preview's project, and follows its changes until the preview is over. @throws what `LiveCopy.open` throws */
async function followProject(
  spec: PreviewSpec,
  { platform, monotonicMs }: Pick<PreviewParts, "platform" | "monotonicMs">,
  { sandbox, onWarning, over, signal }: FollowProject,
): Promise<LiveCopy> {
  const giveUp = (): void => over.abort();
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  const copy = await LiveCopy.open({
    ...spec,
    ...{ platform, monotonicMs },
    maxBytes: spec.limits.diskBytes,
    files: sandbox.files,
    target: copyFolder,
    onProblem: ({ message }) => onWarning(message),
    signal: over.signal,
  });
  signal.removeEventListener("abort", giveUp);
  for (const warning of copy.warnings) onWarning(warning);
  return copy;
}

/** After this long without a further line an error is reported as far as it is known. */
const quietMs = 300;
/** After this long it is reported anyway, whatever follows: an alert has two seconds (SPEC PV3). */
const openMs = 1_000;
/** A line that does not end is cut here. */
const maxLineBytes = 2_048;
/** Lines that are examined per second: a flood is not read. */
const maxLinesPerSecond = 2_000;

interface Stream {
  readonly lines: LineReader;
  readonly scanner: ErrorScanner;
}

/** Looks for errors in what a program writes, each stream by itself. */
export class OutputScan {
  readonly #streams: Readonly<Record<OutputChunk["stream"], Stream>>;
  readonly #monotonicMs: () => number;
  #quiet: NodeJS.Timeout | undefined;
  /** Since when an error is open; null: none is. */
  #openedMs: number | null = null;
  #second = 0;
  #linesInSecond = 0;

  /** `monotonicMs`: milliseconds of a clock that never goes back. */
  constructor(listener: ErrorScannerListener, monotonicMs: () => number) {
    const stream = (): Stream => ({
      lines: new LineReader(maxLineBytes, { keepsBeginning: true }),
      scanner: new ErrorScanner(listener),
    });
    this.#streams = { stdout: stream(), stderr: stream() };
    this.#monotonicMs = monotonicMs;
  }

  write({ stream: name, bytes }: OutputChunk): void {
    const stream = this.#streams[name];
    for (const line of stream.lines.push(bytes)) {
      if (!this.#isPaceLeft()) break;
      stream.scanner.line(stripVTControlCharacters(line.bytes.toString("utf8")).trimEnd());
    }
    this.#await();
  }

  /** Reports what is open: nothing follows. */
  flush(): void {
    clearTimeout(this.#quiet);
    this.#openedMs = null;
    for (const { scanner } of Object.values(this.#streams)) scanner.flush();
  }

  /** Reports what is open when no more lines come, or when it has been open for long. */
  #await(): void {
    clearTimeout(this.#quiet);
    if (!this.#isOpen) {
      this.#openedMs = null;
      return;
    }
    const nowMs = this.#monotonicMs();
    this.#openedMs ??= nowMs;
    const leftMs = this.#openedMs + openMs - nowMs;
    if (leftMs <= 0) this.flush();
    else this.#quiet = setTimeout(() => this.flush(), Math.min(quietMs, leftMs)).unref();
  }

  get #isOpen(): boolean {
    return Object.values(this.#streams).some(({ scanner }) => scanner.isOpen);
  }

  #isPaceLeft(): boolean {
    const second = Math.floor(this.#monotonicMs() / 1_000);
    if (second !== this.#second) this.#linesInSecond = 0;
    this.#second = second;
    return ++this.#linesInSecond <= maxLinesPerSecond;
  }
}

/** SPEC PV1; `running` only while the port answers. */
export type PreviewStatus = "starting" | "running" | "error";

/** The preview's principal, and who receives its events. */
export interface PreviewOwner {
  readonly id: string;
  readonly principal: string;
  readonly onActivity: (isBusy: boolean) => void;
  /** Its time is up: its owner ends it. */
  readonly onTimeOver: () => void;
}

/** How much of the newest output its status shows. */
const keptBytes = 64 * kibibyte;
const maxWarnings = 20;

/** A project's page, served from a copy in its own sandbox, until it is ended. */
export class Preview {
  readonly id: string;
  readonly principal: string;
  readonly spec: PreviewSpec;
  readonly #owner: PreviewOwner;
  readonly #parts: PreviewParts;
  readonly #place: Place;
  readonly #errors: OngoingErrors;
  readonly #output = new RingOutput(keptBytes);
  readonly #scan: OutputScan;
  readonly #warnings: string[] = [];
  #status: PreviewStatus = "starting";
  #port: number;
  #problem: GloveboxError | null = null;
  readonly #waiting = new Waiting();
  #opening: Promise<void> = Promise.resolve();
  readonly #over = new AbortController();
  #copy: LiveCopy | null = null;
  #setupCommand: string | null = null;
  #opened: PreviewSandbox | null = null;
  #way: OpenedPreview | null = null;
  #record: OpenRun | null = null;
  #program: LaunchedProcess | null = null;
  #redaction: Redaction | null = null;
  #startedAtMs: number | null = null;
  #timeOver: NodeJS.Timeout | undefined;

  constructor(owner: PreviewOwner, spec: PreviewSpec, parts: PreviewParts) {
    this.id = owner.id;
    this.principal = owner.principal;
    this.spec = spec;
    this.#port = spec.port;
    this.#owner = owner;
    this.#parts = parts;
    this.#place = new Place({ ...owner, noun: "preview", now: parts.now });
    this.#errors = new OngoingErrors(owner.id, parts.alerts, parts.monotonicMs);
    const onError = (error: PreviewError): void => this.#errors.failed(error);
    this.#scan = new OutputScan({ onError, onRecovery: () => this.#errors.recovered() }, parts.monotonicMs);
  }

  get status(): PreviewStatus {
    return this.#status;
  }

  /** Where its command listens, as far as is known by now. */
  get port(): number {
    return this.#port;
  }

  /** Why its status is `error`. */
  get problem(): GloveboxError | null {
    return this.#problem;
  }

  /** Where it is reachable; null before it is open and after its end. */
  get way(): Pick<OpenedPreview, "url" | "directUrl"> | null {
    return this.#way;
  }

  /** Its newest output, including the installation's, without control sequences. */
  get logs(): string {
    return stripVTControlCharacters(this.#output.text());
  }

  get warnings(): readonly string[] {
    const { spec, logs } = this;
    return [this.#warnings, hintsOf(spec.command, logs, this.#redaction), otherPortNote(spec, this.#port) ?? []].flat();
  }

  /** The installation command; null: none. */
  get setupCommand(): string | null {
    return this.#setupCommand;
  }

  get sandbox(): PreviewSandbox | null {
    return this.#opened;
  }

  /** When its command began, in milliseconds since the epoch; null before. */
  get startedAtMs(): number | null {
    return this.#startedAtMs;
  }

  get isEnding(): boolean {
    return this.#place.isEnding;
  }

  /** Copies, installs and starts the command; the project's errors become its status. @throws as `openPreviewSandbox` */
  open(start: PreviewStart, caller: Caller): Promise<void> {
    const mine = { ...caller, signal: this.#place.signalOf(caller.signal) };
    this.#opening = this.#place.whileActive(() => this.#open(start, mine));
    return this.#opening;
  }

  /** Resolves when it has answered or failed, or after the given time. */
  async untilSettled(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#status === "starting") await this.#waiting.wait(withinMs, signal);
  }

  /** Ends the command gracefully and removes the sandbox; calling it again waits for the same end. */
  end(outcome: Outcome): Promise<void> {
    return this.#place.end(async (stopped) => {
      clearTimeout(this.#timeOver);
      await Promise.allSettled([this.#opening]);
      await stopped;
      // One that was started while it ended.
      await Promise.allSettled(this.#place.processes.running.map((process) => process.stop()));
      try {
        await this.#remove(outcome, this.#place.processes.all[0]?.exitCode ?? null);
      } finally {
        this.#way?.close();
        this.#way = null;
        this.#waiting.release();
        await this.spec.project[Symbol.asyncDispose]();
      }
    });
  }

  async #open(start: PreviewStart, caller: Caller & { readonly signal: AbortSignal }): Promise<void> {
    const { principal, spec } = this;
    const { gateway } = this.#parts;
    const { signal } = caller;
    this.#way = await gateway.open({
      principal,
      port: () => this.#port,
      connect: (each) => connectToProgram(this.#program, this.#port, each),
      isStarting: () => this.#status === "starting",
    });
    const opened = await openPreviewSandbox(this.id, spec, this.#parts, start, caller);
    this.#opened = opened;
    const { sandbox } = opened;
    sandbox.output.listen(({ bytes }) => this.#output.append(bytes));
    start.onSandbox(sandbox.id);
    const work = describeCommand(spec.command, new Redaction(spec.secrets));
    this.#record = sandbox.beginRun({ principal, work, timeoutMs: spec.limits.timeoutMs, network: spec.network });
    start.onProgress("Copying the project");
    this.#warnings.push(...opened.warnings);
    const onWarning = (message: string): void => this.#warn(message);
    this.#copy = await followProject(spec, this.#parts, { sandbox, onWarning, over: this.#over, signal });
    if (!(await this.#install(opened, start, caller))) return;
    if (signal.aborted) throw cancelled(signal.reason);
    await this.#start(opened, start, signal);
  }

  #warn(message: string): void {
    if (!this.#warnings.includes(message) && this.#warnings.length < maxWarnings) this.#warnings.push(message);
  }

  /** False when it did not go well. */
  async #install(opened: PreviewSandbox, start: PreviewStart, caller: Caller): Promise<boolean> {
    const { installation, keeping, image, profile, sandbox } = opened;
    const { environment } = profile;
    const where = { installation, keeping, image, environment, timeoutMs: this.spec.setupTimeoutMs };
    const installed = await installDependencies(sandbox, { ...this.#parts, ...start, ...where }, caller);
    const { line, failed, warnings } = installed;
    this.#setupCommand = line;
    for (const warning of warnings) this.#warn(warning);
    if (line === null || failed === null) return true;
    const problem = explainInstallation(line, failed);
    if (problem.errorType === "CANCELLED") throw problem;
    await this.#failed(exitOfInstallation(problem, this.logs), "failed", failed.end.exitCode);
    return false;
  }

  async #start(opened: PreviewSandbox, start: PreviewStart, signal: AbortSignal): Promise<void> {
    const { command: line, limits } = this.spec;
    const { sandbox } = opened;
    sandbox.output.listen((chunk) => this.#scan.write(chunk));
    const spec = { command: ["sh", "-c", line], environment: {}, workingDirectory: copyFolder, ports: [] };
    const process = await this.#place.startProcess(spec, async () => {
      this.#program = await startServer(opened, { ...this.spec, line, onDenied: start.onDenied, signal });
      this.#redaction = this.#program.redaction;
      return this.#program;
    });
    this.#startedAtMs = this.#parts.now();
    this.#timeOver = setTimeout(() => this.#owner.onTimeOver(), limits.timeoutMs).unref();
    const over = new AbortController();
    watchServer(this.spec, {
      ...{ ...this.#parts, id: this.id, sandbox },
      program: () => this.#program,
      logs: () => this.logs,
      signal: AbortSignal.any([over.signal, this.#place.signalOf(undefined)]),
      onAnswer: (port) => this.#answers(port),
      onSilence: (problem) => this.#silent(problem),
    });
    void process.ended.then(() => {
      over.abort();
      return this.#exited(process);
    });
  }

  #answers(port: number): void {
    this.#port = port;
    this.#status = "running";
    this.#problem = null;
    if (this.#errors.current?.nature === "silence") this.#errors.recovered();
    this.#waiting.release();
  }

  #silent(problem: GloveboxError): void {
    this.#status = "error";
    this.#problem = problem;
    this.#errors.failed({ nature: "silence", summary: problem.message, place: null, lines: [] });
    this.#waiting.release();
  }

  async #exited(process: BackgroundProcess): Promise<void> {
    this.#program = null;
    if (this.isEnding) return;
    this.#scan.flush();
    const stats = await this.#opened?.sandbox.stats();
    const isOutOfMemory = (stats?.oomKills ?? 0) > 0;
    const lost: Outcome = process.state === "lost" ? "sandbox_lost" : "failed";
    const exit = exitOf(process, { isOutOfMemory, logs: this.logs });
    await this.#failed(
      { ...exit, problem: this.#opened?.scratch?.error ?? exit.problem },
      isOutOfMemory ? "oom_killed" : lost,
      process.exitCode,
    );
  }

  /** It ended by itself: this is reported, and it is removed, but its output is kept. */
  async #failed(
    { problem, error }: ReturnType<typeof exitOf>,
    outcome: Outcome,
    exitCode: number | null,
  ): Promise<void> {
    this.#status = "error";
    this.#problem = problem;
    clearTimeout(this.#timeOver);
    this.#errors.failed(error);
    this.#waiting.release();
    await this.#remove(outcome, exitCode).catch(() => undefined);
  }

  async #remove(outcome: Outcome, exitCode: number | null): Promise<void> {
    this.#over.abort();
    await this.#copy?.close();
    this.#scan.flush();
    this.#errors.recovered();
    const durationMs = this.#startedAtMs === null ? null : this.#parts.now() - this.#startedAtMs;
    const errorType = this.#problem?.errorType ?? null;
    this.#record?.end({ outcome, exitCode, durationMs, errorType });
    // A failed removal is logged, and left to the next sweep.
    try {
      await this.#opened?.sandbox.remove();
    } finally {
      await this.#opened?.[Symbol.asyncDispose]();
    }
  }
}
