import { stripVTControlCharacters } from "node:util";
import { RingOutput } from "../../base/streams/ring-output.ts";
import { kibibyte } from "../../base/bytes.ts";
import { cancelled } from "../../base/abort.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OpenedPreview } from "../../ingress/preview-gateway.ts";
import { Redaction } from "../../policy/redaction/redaction.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { explainInstallation, installDependencies } from "../dependencies/install-dependencies.ts";
import type { BackgroundProcess } from "../place/background/background-process.ts";
import type { LaunchedProcess } from "../place/background/background-processes.ts";
import { connectToProgram } from "../place/background/connect-to-program.ts";
import { Place } from "../place/place.ts";
import { copyFolder } from "../project/copy-project.ts";
import type { LiveCopy } from "../project/live/live-copy.ts";
import { describeCommand } from "../run/describe-work.ts";
import type { PreviewError } from "./errors/error-scanner.ts";
import { OutputScan } from "./errors/output-scan.ts";
import { followProject } from "./follow-project.ts";
import { OngoingErrors } from "./ongoing-errors.ts";
import { openPreviewSandbox, type PreviewSandbox } from "./open-preview-sandbox.ts";
import type { PreviewParts, PreviewStart } from "./preview-parts.ts";
import { exitOf, exitOfInstallation, hintsOf, otherPortNote } from "./preview-problems.ts";
import type { PreviewSpec } from "./preview-spec.ts";
import { startServer } from "./start-server.ts";
import { Waiting } from "./waiting.ts";
import { watchServer } from "./watch-server.ts";

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
