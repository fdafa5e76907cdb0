import { settlesWithin } from "../../base/abort.ts";
import type { RingOutput } from "../../base/streams/ring-output.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import type { BackgroundProcess, StopOptions } from "../place/background/background-process.ts";
import type { BackgroundProcesses } from "../place/background/background-processes.ts";
import type { CommandSpec, ProcessSpec } from "../program/command-spec.ts";
import { concludeRun, judgeRun } from "../run/conclude-run.ts";
import { DenialLog } from "../run/denial-log.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import type { ProcessEnd } from "../run/watch-process.ts";
import type { ToolingReport } from "../run/explain-tooling.ts";
import { ToolingTraces } from "./project/tooling-traces.ts";
import type { EnvironmentParts, RunOptions, Started } from "./environment-parts.ts";
import type { CommandResult } from "./command/command-result.ts";
import { EnvironmentSecrets } from "./environment-secrets.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import { beginCommand } from "./command/begin-command.ts";
import { commandWarnings, replacedWarning } from "./command/command-warnings.ts";
import { explainCommand } from "./command/explain-command.ts";
import { CurrentContainer } from "../place/current-container.ts";
import { Place } from "../place/place.ts";
import type { FileOptions, FileUse, FileWork } from "../place/place-files.ts";
import { EnvironmentContainer } from "./container/environment-container.ts";
import { startInContainer } from "./start-in-container.ts";
import { isToldInside, useEnvironmentFiles, type FileUseParts } from "./use-environment-files.ts";
import { watchCommand } from "./command/watch-command.ts";

/** How long processes that were killed may take to end. */
const endedMs = 2_000;

/** A container that runs commands, several at a time, until it is destroyed; it is replaced if it disappears before. */
export class Environment {
  readonly spec: EnvironmentSpec;
  readonly createdAtMs: number;
  readonly warnings: readonly string[];
  readonly processes: BackgroundProcesses;
  readonly tooling: ToolingTraces;
  readonly #parts: EnvironmentParts;
  readonly #place: Place;
  readonly #commands = new Set<Promise<unknown>>();
  readonly #denialLogs = new Set<DenialLog>();
  readonly #secrets: EnvironmentSecrets;
  readonly #container = new CurrentContainer<EnvironmentContainer>();
  /** The container that the caller knows. */
  #known: EnvironmentContainer | null = null;

  /** @throws what `EnvironmentContainer.open` throws */
  static async create(parts: EnvironmentParts, caller: Caller): Promise<Environment> {
    const made = new Environment(parts);
    made.#known = await made.#container.open(made.#open(caller.signal));
    return made;
  }

  private constructor(parts: EnvironmentParts) {
    this.#parts = parts;
    this.spec = parts.spec;
    this.warnings = parts.warnings;
    this.createdAtMs = parts.now();
    this.#place = new Place({ ...parts, noun: "environment", id: parts.spec.id });
    this.processes = this.#place.processes;
    this.#secrets = new EnvironmentSecrets(parts.spec.readSecrets, this.#place.secrets);
    this.tooling = new ToolingTraces({
      look: parts.lookAtTooling,
      onEdge: async (worked) => parts.growth?.note(worked),
      redact: (text) => this.#secrets.text(text),
      alerts: parts.toolingAlerts,
    });
  }

  get engineName(): EngineName {
    return this.#parts.engine.name;
  }

  /** Running commands. */
  get commandCount(): number {
    return this.#commands.size;
  }

  /** Its current sandbox; null: none. */
  get sandboxId(): string | null {
    return this.#container.live?.sandbox.id ?? null;
  }

  /** Ids of its current container and sandbox. @throws if that could not be replaced, or has ended */
  async currentIds(): Promise<{ readonly containerId: string; readonly sandboxId: string }> {
    const container = await this.#container.current;
    if (container === null) throw new GloveboxError("SANDBOX_LOST", "The environment has ended.");
    return { containerId: container.sandbox.containerId, sandboxId: container.sandbox.id };
  }

  /** Runs a command to its end; a failure is a result too. @throws CANCELLED, CAPACITY, what the engine throws */
  run(spec: CommandSpec, options: RunOptions): Promise<CommandResult> {
    const ids: RunIds = { id: options.runId, principal: this.#parts.principal, environment: this.spec.id };
    const running = loggingFailure(this.#parts.logger, ids, () =>
      this.#place.whileActive(() => this.#run(spec, options, ids)),
    );
    this.#commands.add(running);
    running.finally(() => this.#commands.delete(running)).catch(() => undefined);
    return running;
  }

  /** Starts a background process. @throws as `run`, CAPACITY if too many are running */
  async startProcess(spec: ProcessSpec, signal: AbortSignal | undefined): Promise<BackgroundProcess> {
    let follow: ((started: BackgroundProcess) => void) | undefined;
    const started = await this.#place.startProcess(spec, async () => {
      const trace = await this.tooling.begin(this.#worked(1));
      const { process, redaction, container } = await this.#start(spec, signal);
      follow = (key) => this.tooling.follow(key, trace, { process, sandbox: container.sandbox.id });
      return { process, redaction, sandbox: container.sandbox };
    });
    follow?.(started);
    return started;
  }

  /** Ends a background process; if that cannot be done exactly, the container is replaced, and a warning says so. */
  async stopProcess(process: BackgroundProcess, how: StopOptions): Promise<readonly string[]> {
    const container = await this.#container.current;
    try {
      await process.stop(how);
      return [];
    } catch (error) {
      if (container !== null) await this.#replace(container, error);
      return [replacedWarning];
    }
  }

  /** Removes the secrets that its programs have been given from files and names that they may have written. */
  redaction(): Redaction {
    return this.#place.secrets.redaction();
  }

  /**
   * Works with the files inside, alongside whatever runs there and with no more rights.
   * @throws CANCELLED, what opening a container and `SandboxFiles` throw
   */
  useFiles<T>(work: FileWork<T>, { writes, signal }: FileOptions): Promise<FileUse<T>> {
    const parts: FileUseParts = {
      spec: this.spec,
      tooling: this.tooling,
      isWorking: () => this.#worked(1),
      inContainer: (begun) => this.#inContainer(signal, begun),
      tellOf: (container) => this.#tellOf(container),
      // The next call reports why there is no new one.
      giveUp: async (gone, reason) =>
        void (this.#place.isEnding || (await this.#replace(gone, reason).catch(() => null))),
    };
    return this.#place.whileActive(() => useEnvironmentFiles(parts, work, writes));
  }

  /** Ends what runs, removes the container, and looks at the project once more; a second call waits for the same end. */
  async end(): Promise<ToolingReport> {
    await this.#place.end((stopped) => this.#end(stopped));
    return this.tooling.close();
  }

  async #run(spec: CommandSpec, options: RunOptions, ids: RunIds): Promise<CommandResult> {
    const denials = new DenialLog(options.onDenied);
    this.#denialLogs.add(denials);
    try {
      const trace = await this.tooling.begin(this.#worked(1));
      const started = await this.#start(spec, this.#place.signalOf(options.signal));
      const { process, container } = started;
      const { sandbox } = container;
      const restarted = this.#tellOf(container);
      const facts = { ...spec, ...options, network: this.spec.network, redaction: this.redaction() };
      const record = beginCommand(ids, sandbox, facts);
      const setuidBefore = container.setuidCount;
      const { end, isReplaced } = await this.#watch(started, options);
      const judged = await judgeRun({
        sandbox,
        record,
        end,
        // Killed meanwhile.
        isLost: () => sandbox.state !== "running",
        oomKillsBefore: started.oomKillsBefore,
        networkReport: async () => {
          await (await container.ensureNetwork(undefined).catch(() => null))?.settle();
          return denials.report(false);
        },
      });
      const tooling = await this.tooling.end(trace, { process, sandbox: sandbox.id });
      const setuidCount = (await container.clearSetuidBits()) - setuidBefore;
      const concluded = concludeRun(judged, {
        ids,
        logger: this.#parts.logger,
        explain: (run) => explainCommand(run, { ...this.spec.limits, ...options, overDisk: container.overDisk }),
      });
      return {
        ...concluded.end,
        outcome: concluded.outcome,
        policyDigest: concluded.policyDigest,
        error: concluded.error,
        sandboxId: sandbox.id,
        restarted,
        toolingFiles: tooling.changed,
        warnings: commandWarnings({
          ...{ judged, tooling, setuidCount, locks: container.locks, redaction: started.redaction },
          isElsewhere: restarted || isReplaced,
        }),
      };
    } finally {
      this.#denialLogs.delete(denials);
      if (!this.#worked(1)) this.#container.live?.commands.prepare();
    }
  }

  /** Watches a command to its end; if just the command cannot be ended, its container is replaced. */
  async #watch(
    { process, redaction, container }: Started,
    { timeoutMs, stdin, keptBytes, onOutput, signal }: RunOptions,
  ): Promise<{ readonly end: ProcessEnd<RingOutput>; readonly isReplaced: boolean }> {
    let isReplaced = false;
    const end = await watchCommand({
      process,
      sandbox: container.sandbox,
      redaction,
      timeoutMs,
      stdin,
      keptBytes,
      onOutput,
      signal: this.#place.signalOf(signal),
      monotonicMs: this.#parts.monotonicMs,
      end: async () => {
        isReplaced = (await container.sandbox.endProcessAlone(process)) === "unclean";
        if (isReplaced) await this.#replace(container, "its command may not have ended");
      },
    });
    return { end, isReplaced };
  }

  #start(spec: CommandSpec | ProcessSpec, caller: AbortSignal | undefined): Promise<Started> {
    const { variables } = this.#parts;
    return this.#inContainer(caller, (container, signal) =>
      startInContainer(container, spec, { secrets: this.#secrets, variables, signal }),
    );
  }

  /** Does work in its container, or in a new one if the current one turns out to be gone. */
  async #inContainer<T>(
    caller: AbortSignal | undefined,
    work: (container: EnvironmentContainer, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const signal = this.#place.signalOf(caller);
    const container = await this.#container.present(() => this.#open(signal));
    try {
      return await work(container, signal);
    } catch (error) {
      if (signal.aborted || isToldInside(error) || (await container.sandbox.isAlive())) throw error;
      return work(await this.#replace(container, error), signal);
    }
  }

  /** The container to report to the caller now, and whether it differs from the one the caller knows. */
  #tellOf(container: EnvironmentContainer): boolean {
    const restarted = this.#known !== container;
    this.#known = container;
    return restarted;
  }

  #open(signal: AbortSignal | undefined): Promise<EnvironmentContainer> {
    const parts = {
      ...this.#parts,
      isBusy: () => this.#worked(0),
      redact: (text: string) => this.#secrets.text(text),
      onDenied: (denial: Denial) => {
        for (const log of this.#denialLogs) log.add(denial);
      },
    };
    return EnvironmentContainer.open(parts, { ...this.#parts, signal: this.#place.signalOf(signal) });
  }

  #replace(gone: EnvironmentContainer, reason: unknown): Promise<EnvironmentContainer> {
    return this.#container.replace(gone, () => {
      const ids = { sandbox: gone.sandbox.id, environment: this.spec.id };
      this.#parts.logger.warn({ ...ids, err: reason }, "the container of an environment is replaced");
      return this.#open(undefined);
    });
  }

  async #end(stopped: Promise<unknown>): Promise<void> {
    this.tooling.ending();
    const { running } = this.processes;
    await Promise.allSettled([...this.#commands, stopped]);
    await settlesWithin(Promise.allSettled(running.map(({ ended }) => ended)), endedMs);
    try {
      await this.#container.discard();
      for (const image of this.#parts.ownImages.toReversed()) await this.#parts.engine.images.remove(image);
    } finally {
      await this.tooling.close();
      await this.spec.project?.place[Symbol.asyncDispose]();
    }
  }

  /** Whether anything runs besides `own` activities, including what ended commands left running. */
  #worked(own: number): boolean {
    return this.#place.activeCount > own || this.tooling.hasLeft;
  }
}
