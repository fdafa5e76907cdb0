import { settlesWithin } from "../../base/abort.ts";
import type { RingOutput } from "../../base/streams/ring-output.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { assertPortsFree } from "../place/background/assert-ports-free.ts";
import type { BackgroundProcess, StopOptions } from "../place/background/background-process.ts";
import { BackgroundProcesses } from "../place/background/background-processes.ts";
import type { CommandSpec, ProcessSpec } from "../program/command-spec.ts";
import { concludeRun, judgeRun } from "../run/conclude-run.ts";
import { DenialLog } from "../run/denial-log.ts";
import { networkWarnings } from "../run/explain-network.ts";
import { secretWarnings } from "../run/explain-secrets.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import type { ProcessEnd } from "../run/watch-process.ts";
import { ToolingTraces, type FollowedProgram } from "./project/tooling-traces.ts";
import { toolingWarnings } from "./project/tooling-warnings.ts";
import type { EnvironmentParts, RunOptions, Started } from "./environment-parts.ts";
import type { CommandResult } from "./command-result.ts";
import { EnvironmentSecrets } from "./environment-secrets.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import { explainCommand, setuidWarnings } from "./explain-command.ts";
import { lockedPaths, lockWarnings } from "./project/explain-locks.ts";
import { Home } from "./container/current-container.ts";
import { Housing, type HousingParts } from "./container/environment-container.ts";
import { withSecrets } from "./secret-shell.ts";
import { watchCommand } from "./watch-command.ts";

/** How long the end of processes that were ended may take to arrive. */
const endedMs = 2_000;

const replacedWarning =
  "The environment has a new container: files outside /workdir are as they were at the start, and its background processes have ended.";

/** A container that runs commands, several at once, until it is destroyed; it is replaced when it goes away before. */
export class Environment {
  readonly spec: EnvironmentSpec;
  readonly createdAtMs: number;
  readonly warnings: readonly string[];
  readonly processes: BackgroundProcesses;
  readonly tooling: ToolingTraces;
  readonly #parts: EnvironmentParts;
  readonly #ending = new AbortController();
  readonly #commands = new Set<Promise<unknown>>();
  readonly #denialLogs = new Set<DenialLog>();
  readonly #secrets: EnvironmentSecrets;
  readonly #home: Home;
  /** The container that the caller knows of. */
  #known: Housing | null = null;
  #active = 0;
  #ended: Promise<void> | undefined;

  /** @throws what `Housing.open` throws */
  static async create(parts: EnvironmentParts, caller: Caller): Promise<Environment> {
    const environment = new Environment(parts, caller);
    environment.#known = await environment.#home.current;
    return environment;
  }

  private constructor(parts: EnvironmentParts, caller: Caller) {
    this.#parts = parts;
    this.spec = parts.spec;
    this.warnings = parts.warnings;
    this.createdAtMs = parts.now();
    this.processes = new BackgroundProcesses({ place: "environment", now: parts.now });
    this.#secrets = new EnvironmentSecrets(parts.spec.readSecrets);
    this.tooling = new ToolingTraces({
      look: parts.lookAtTooling,
      onEdge: async (worked) => parts.growth?.note(worked),
      redact: (text) => this.#secrets.text(text),
      alerts: parts.toolingAlerts,
    });
    const housing: HousingParts = {
      ...parts,
      isBusy: () => this.#worked(0),
      redact: (text) => this.#secrets.text(text),
      onDenied: (denial) => {
        for (const log of this.#denialLogs) log.add(denial);
      },
    };
    const open = (signal: AbortSignal | undefined): Promise<Housing> =>
      Housing.open(housing, { principal: parts.principal, signal: this.#signal(signal) });
    this.#home = new Home({ environment: parts.spec.id, logger: parts.logger, open }, caller.signal);
  }

  get engineName(): EngineName {
    return this.#parts.engine.name;
  }

  /** Commands that run now. */
  get commandCount(): number {
    return this.#commands.size;
  }

  /** Id of its present container and sandbox. @throws when that could not be replaced */
  async home(): Promise<{ readonly containerId: string; readonly sandboxId: string }> {
    const { sandbox } = await this.#home.current;
    return { containerId: sandbox.containerId, sandboxId: sandbox.id };
  }

  /** Runs a command to its end, which is a result also when it fails. @throws CANCELLED, CAPACITY, what the engine throws */
  run(spec: CommandSpec, options: RunOptions): Promise<CommandResult> {
    const ids: RunIds = { principal: this.#parts.principal, environment: this.spec.id };
    const running = loggingFailure(this.#parts.logger, ids, () =>
      this.#whileActive(() => this.#run(spec, options, ids)),
    );
    this.#commands.add(running);
    const leave = (): void => void this.#commands.delete(running);
    running.then(leave, leave);
    return running;
  }

  /** Starts a process that goes on by itself. @throws as `run`, CAPACITY when too many run */
  async startProcess(spec: ProcessSpec, signal: AbortSignal | undefined): Promise<BackgroundProcess> {
    this.#begin();
    try {
      const trace = await this.tooling.begin(this.#worked(1));
      let followed: FollowedProgram | null = null;
      const started = await this.processes.start(spec, async () => {
        const { process, redaction, housing } = await this.#start(spec, signal);
        const { sandbox } = housing;
        followed = { process, sandbox: sandbox.id };
        return { process, redaction, sandbox, onEnded: () => this.#finish() };
      });
      if (followed !== null) this.tooling.follow(started, trace, followed);
      return started;
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  /** Ends a background process; where that cannot be done exactly the container is replaced, and the warning says so. */
  async stopProcess(process: BackgroundProcess, how: StopOptions): Promise<readonly string[]> {
    const housing = await this.#home.current;
    try {
      await process.stop(how);
      return [];
    } catch {
      await this.#home.replace(housing);
      return [replacedWarning];
    }
  }

  /** Ends what runs, then removes the container; calling it again waits for the same end. */
  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #run(spec: CommandSpec, options: RunOptions, ids: RunIds): Promise<CommandResult> {
    const denials = new DenialLog(options.onDenied);
    this.#denialLogs.add(denials);
    try {
      const trace = await this.tooling.begin(this.#worked(1));
      const started = await this.#start(spec, this.#signal(options.signal));
      const { process, housing } = started;
      const { sandbox } = housing;
      const restarted = this.#known !== housing;
      this.#known = housing;
      ids.sandbox = sandbox.id;
      const setuidBefore = housing.setuidCount;
      const { end, isReplaced } = await this.#watch(started, options);
      const judged = await judgeRun({
        sandbox,
        end,
        // Ended by force meanwhile.
        isLost: sandbox.state !== "running",
        oomKillsBefore: started.oomKillsBefore,
        networkReport: async () => {
          await (await housing.ensureNetwork(undefined).catch(() => null))?.settle();
          return denials.report(false);
        },
      });
      const tooling = await this.tooling.end(trace, { process, sandbox: sandbox.id });
      const setuidCount = (await housing.clearSetuidBits()) - setuidBefore;
      const concluded = concludeRun(judged, {
        ids,
        logger: this.#parts.logger,
        explain: (run) => explainCommand(run, { ...this.spec.limits, ...options, overDisk: housing.overDisk }),
      });
      return {
        ...concluded.end,
        outcome: concluded.outcome,
        error: concluded.error,
        restarted,
        toolingFiles: tooling.changed,
        warnings: [
          ...(restarted || isReplaced ? [replacedWarning] : []),
          ...(judged.outcome === "policy_denied" ? [] : networkWarnings(judged.networkReport)),
          ...toolingWarnings(tooling),
          ...lockWarnings(lockedPaths(housing.locks), `${end.stdout.text()}\n${end.stderr.text()}`),
          ...setuidWarnings(setuidCount),
          ...secretWarnings(started.redaction),
        ],
      };
    } finally {
      this.#denialLogs.delete(denials);
    }
  }

  /** Watches a command to its end; where it cannot be ended exactly its container is replaced. */
  async #watch(
    { process, redaction, housing }: Started,
    { timeoutMs, onOutput, signal }: RunOptions,
  ): Promise<{ readonly end: ProcessEnd<RingOutput>; readonly isReplaced: boolean }> {
    let isReplaced = false;
    const end = await watchCommand({
      process,
      sandbox: housing.sandbox,
      redaction,
      timeoutMs,
      onOutput,
      signal: this.#signal(signal),
      monotonicMs: this.#parts.monotonicMs,
      end: async () => {
        isReplaced = (await housing.sandbox.endProcessAlone(process)) === "unclean";
        if (isReplaced) await this.#home.replace(housing);
      },
    });
    return { end, isReplaced };
  }

  /** Starts a process, in a new container when the present one turns out to be gone. */
  async #start(spec: CommandSpec | ProcessSpec, caller: AbortSignal | undefined): Promise<Started> {
    const signal = this.#signal(caller);
    const housing = await this.#home.present(signal);
    try {
      return await this.#exec(housing, spec, signal);
    } catch (error) {
      if (signal.aborted || (await housing.sandbox.check()) !== null) throw error;
      return this.#exec(await this.#home.replace(housing, error), spec, signal);
    }
  }

  async #exec(housing: Housing, spec: CommandSpec | ProcessSpec, signal: AbortSignal): Promise<Started> {
    await housing.ensureNetwork(signal);
    if ("ports" in spec) await assertPortsFree(housing.sandbox, spec.ports, { signal });
    const { oomKills } = await housing.sandbox.stats();
    const { secrets, redaction } = await this.#secrets.giveTo(spec);
    const { command, preamble } = withSecrets(spec.command, secrets);
    const process = await housing.sandbox.exec(
      {
        command,
        environment: { ...this.#parts.variables, ...spec.environment },
        workingDirectory: spec.workingDirectory,
        concurrent: true,
      },
      { signal },
    );
    if (preamble.length > 0) process.stdin.write(preamble);
    return { process, redaction, housing, oomKillsBefore: oomKills };
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    const { running } = this.processes;
    await Promise.allSettled([...this.#commands, ...running.map((process) => process.stop())]);
    await settlesWithin(Promise.allSettled(running.map(({ ended }) => ended)), endedMs);
    await this.tooling.close();
    const { engine, ownImages } = this.#parts;
    try {
      await this.#home.remove();
      for (const image of ownImages.toReversed()) await engine.images.remove(image);
    } finally {
      await this.spec.project?.place[Symbol.asyncDispose]();
    }
  }

  #signal(caller: AbortSignal | undefined): AbortSignal {
    return caller === undefined ? this.#ending.signal : AbortSignal.any([caller, this.#ending.signal]);
  }

  async #whileActive<T>(work: () => Promise<T>): Promise<T> {
    this.#begin();
    try {
      return await work();
    } finally {
      this.#finish();
    }
  }

  /** Whether anything runs beside `own` activities, what ended commands left included. */
  #worked(own: number): boolean {
    return this.#active > own || this.tooling.hasLeft;
  }

  #begin(): void {
    if (this.#ending.signal.aborted) throw new GloveboxError("CANCELLED", "The environment is being destroyed.");
    this.#active += 1;
    if (this.#active === 1) this.#parts.onActivity(true);
  }

  #finish(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#parts.onActivity(false);
  }
}
