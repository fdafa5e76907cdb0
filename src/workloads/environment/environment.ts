import { settlesWithin } from "../../base/abort.ts";
import type { RingOutput } from "../../base/streams/collected-bytes.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError, isSandboxLoss } from "../../errors/glovebox-error.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { BackgroundProcess, StopOptions, BackgroundProcesses } from "../place/background-processes.ts";
import { withSecrets, type CommandSpec, type ProcessSpec } from "../program/command-spec.ts";
import { concludeRun, judgeRun, loggingFailure, type RunIds } from "../run/conclude-run.ts";
import { DenialLog } from "../run/network-report.ts";
import type { ProcessEnd } from "../run/watch-process.ts";
import { nothingChanged, toolingWarnings, type ToolingReport } from "../run/explain-tooling.ts";
import { ToolingTraces } from "./tooling-traces.ts";
import { EnvironmentContainer, type EnvironmentParts, type RunOptions, type Started } from "./environment-container.ts";
import { EnvironmentSecrets, projectFolder, type EnvironmentSpec } from "./environment-spec.ts";
import { commandWarnings, replacedWarning, explainCommand, watchCommand, lockedPaths } from "./environment-command.ts";
import { CurrentContainer, Place } from "../place/place.ts";
import type { FileOptions, FileUse, FileWork } from "../place/place-files.ts";
import type { OpenRun, RunFacts } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { describeCommand } from "../run/describe-work.ts";
import type { ChangedToolingFile } from "../../policy/tooling-changes.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";
import { assertPortsFree } from "../place/program-ports.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import { posix } from "node:path";

/** The part of an environment that working with its files needs. */
interface FileUseParts {
  readonly spec: Pick<EnvironmentSpec, "project" | "readOnlyRoot">;
  readonly tooling: ToolingTraces;
  /** Whether anything else is running there. */
  readonly isWorking: () => boolean;
  /** Restarts the work in a new container if the current one turns out to be gone. */
  inContainer<T>(work: (container: EnvironmentContainer, signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Whether the container, which is now reported to the caller, differs from the one it knows. */
  tellOf(container: EnvironmentContainer): boolean;
  /** Replaces a container that must not be used again. */
  giveUp(container: EnvironmentContainer, reason: unknown): Promise<void>;
}

/** Errors that our programs reported from inside, which shows that the container is alive. */
const toldInside: ReadonlySet<ErrorType> = new Set(["NOT_FOUND", "PERMISSION_DENIED", "INVALID_REQUEST"]);

/** Whether an error of file work came from a live container. */
function isToldInside(error: unknown): boolean {
  return error instanceof GloveboxError && toldInside.has(error.errorType);
}

/**
 * Works with the files of an environment. If it `writes`, changes to files run by the project owner's tools are
 * reported like a command's changes, by an alert if the work fails. @throws what the work throws
 */
async function useEnvironmentFiles<T>(parts: FileUseParts, work: FileWork<T>, writes: boolean): Promise<FileUse<T>> {
  const { spec, tooling } = parts;
  const trace = writes ? await tooling.begin(parts.isWorking()) : null;
  const used: { container: EnvironmentContainer | null } = { container: null };
  const changes = (): Promise<ToolingReport> | ToolingReport =>
    trace === null || used.container === null ? nothingChanged : tooling.endChange(trace, used.container.sandbox.id);
  try {
    const { result, container } = await parts.inContainer(async (present, signal) => {
      used.container = present;
      return { result: await work(present.sandbox.files, { signal }), container: present };
    });
    const report = await changes();
    const restarted = parts.tellOf(container);
    const warnings = [...(restarted ? [replacedWarning] : []), ...toolingWarnings(report)];
    return { result, restarted, warnings, toolingFiles: report.changed };
  } catch (error) {
    const { container } = used;
    await changes();
    if (isSandboxLoss(error) && container !== null) await parts.giveUp(container, error);
    throw writes ? explainRefusedWrite(error, rulesOf(spec, container)) : error;
  }
}

function rulesOf(
  { project, readOnlyRoot }: FileUseParts["spec"],
  container: Pick<EnvironmentContainer, "locks"> | null,
): WriteRules {
  return {
    isProjectReadOnly: project?.readOnly ?? false,
    isRootReadOnly: readOnlyRoot,
    // The others only keep a folder in its place.
    locked: lockedPaths(container?.locks.filter(({ readOnly }) => readOnly) ?? []),
  };
}

/** What cannot be written to in an environment. */
export interface WriteRules {
  /** Whether the project is mounted read-only. */
  readonly isProjectReadOnly: boolean;
  /** Whether the image's folders are. */
  readonly isRootReadOnly: boolean;
  /** Paths, from the project's root, that mounts protect from changes. */
  readonly locked: readonly string[];
}

/** The error of a refused write with this environment's reason for it; any other error unchanged. */
export function explainRefusedWrite(error: unknown, rules: WriteRules): unknown {
  if (!(error instanceof GloveboxError) || error.errorType !== "PERMISSION_DENIED") return error;
  const { context, message, cause } = error;
  const { path: named } = context;
  const path = typeof named === "string" ? posix.normalize(named) : "";
  return new GloveboxError("PERMISSION_DENIED", message, { suggestion: suggestionFor(path, rules), context, cause });
}

function suggestionFor(path: string, { isProjectReadOnly, isRootReadOnly, locked }: WriteRules): string {
  if (path !== projectFolder && !path.startsWith(`${projectFolder}/`)) {
    return isRootReadOnly
      ? `Write below ${projectFolder} or /tmp: the rest of the container is read-only here (read_only_root).`
      : `Write below ${projectFolder} or /tmp: nothing is written with more rights than commands have.`;
  }
  if (isProjectReadOnly) {
    return "The project cannot be changed here (read_only): write below /tmp, or create an environment without read_only.";
  }
  const lock = locked.find((name) => `${path}/`.startsWith(`${projectFolder}/${name}/`));
  return lock === undefined
    ? "The owner of the project may not write there, so nothing in the environment may: choose another path, or change its mode on the host."
    : `tooling_files is locked here, and ${lock} one of them: change it on the host, or create an environment with tooling_files "named".`;
}

interface StartOptions {
  readonly secrets: EnvironmentSecrets;
  /** Variables for every process of the environment; its own take precedence. */
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Starts a process with its secrets once the network is open. @throws NETWORK_ERROR, what `exec` throws */
async function startInContainer(
  container: EnvironmentContainer,
  spec: CommandSpec | ProcessSpec,
  { secrets: own, variables, signal }: StartOptions,
): Promise<Started> {
  await container.ensureNetwork(signal);
  if ("ports" in spec) await assertPortsFree(container.sandbox, spec.ports, { signal });
  const { oomKills } = await container.sandbox.stats();
  const { secrets, redaction } = await own.giveTo(spec);
  const { command, preamble } = withSecrets(spec.command, secrets);
  const process = await container.commands.start(
    {
      command,
      environment: withPlainOutput({ ...variables, ...spec.environment }),
      workingDirectory: spec.workingDirectory,
    },
    { signal },
  );
  if (preamble.length > 0) process.stdin.write(preamble);
  return { process, redaction, container, oomKillsBefore: oomKills };
}

/** What is known of a command before it runs. */
interface CommandFacts extends Pick<RunFacts, "timeoutMs" | "network"> {
  readonly command: readonly string[];
  readonly redaction: Redaction;
  readonly onSandbox?: ((sandboxId: string) => void) | undefined;
}

/** The run of a command begins in a sandbox; the ids get both. */
function beginCommand(ids: RunIds, sandbox: Sandbox, facts: CommandFacts): OpenRun {
  const { command, redaction, timeoutMs, network, onSandbox } = facts;
  ids.sandbox = sandbox.id;
  const work = describeCommand(command, redaction);
  const record = (ids.record = sandbox.beginRun({ ...ids, work, timeoutMs, network }));
  onSandbox?.(sandbox.id);
  return record;
}

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
      const error = concludeRun(judged, {
        ids,
        logger: this.#parts.logger,
        explain: (run) => explainCommand(run, { ...this.spec.limits, ...options, overDisk: container.overDisk }),
      });
      return {
        ...judged.end,
        outcome: judged.outcome,
        policyDigest: judged.policyDigest,
        error,
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

/** The result of a command. */
interface CommandResult {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  readonly durationMs: number;
  /** Digest of the policy that governed it. */
  readonly policyDigest: string;
  readonly sandboxId: string;
  /** Whether the environment's container differs from that of the previous command. */
  readonly restarted: boolean;
  /** Files run by the project owner's tools that changed while it ran. */
  readonly toolingFiles: readonly ChangedToolingFile[];
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}
