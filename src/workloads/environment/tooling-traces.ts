import type { AlertSink } from "../../base/alert-sink.ts";
import type { Process } from "../../engines/engine.ts";
import { compareTooling } from "../../policy/tooling-changes.ts";
import type { ToolingLook } from "../../sandbox/look-at-tooling.ts";
import { joinReports, nothingChanged, toolingGaps, type ToolingReport } from "../run/explain-tooling.ts";

export interface ToolingTracesOptions {
  /** Null if unknown; undefined: commands cannot change the project. */
  readonly look: (() => Promise<ToolingLook | null>) | undefined;
  /** Removes secrets from names that programs chose. */
  readonly redact: (text: string) => string;
  readonly alerts: AlertSink<ToolingReport>;
  /** Called when a program begins and ends; `worked`: whether one was running. Never rejects. */
  readonly onEdge: (worked: boolean) => Promise<void>;
}

/** The state before a program, and the changes reported since. */
export interface ToolingTrace {
  readonly before: ToolingLook | null;
  readonly told: Set<string>;
}

/** A trace that is not at its end, and the sandbox that its changes are told of. */
interface RunningTrace {
  readonly trace: ToolingTrace;
  readonly sandbox: string;
}

/** A program that runs in a sandbox. */
export interface FollowedProgram {
  readonly sandbox: string;
  readonly process: Pick<Process, "isGone" | "exit">;
}

/** The same, when it is about to end or has ended. */
type EndedProgram = Pick<FollowedProgram, "sandbox"> & { readonly process: Pick<Process, "isGone"> };

/**
 * Reports which files run by the project owner's tools an environment's programs change. What a program leaves running
 * is attributed to the next program, as changes between the two may not be the owner's.
 */
export class ToolingTraces {
  readonly #options: ToolingTracesOptions;
  readonly #ending = new Set<Promise<unknown>>();
  readonly #sandboxes = new Set<string>();
  readonly #reports = new WeakMap<object, () => Promise<ToolingReport>>();
  /** Programs that may still change something, and what is known of it. */
  readonly #running = new Map<object, RunningTrace>();
  /** The state when a program ended and left something running; the next one starts from it. */
  #carried: RunningTrace | null = null;
  /** Ended programs of which something may still run: each engine says that of one program's own. */
  readonly #leavers = new Set<EndedProgram["process"]>();
  /** Reports of processes that ended because their place ends: nothing else will show them. */
  #endedLast: Promise<ToolingReport>[] | null = null;
  #last: Promise<ToolingReport> | null = null;

  constructor(options: ToolingTracesOptions) {
    this.#options = options;
  }

  /** Whether an ended program left something running, as far as known. */
  get hasLeft(): boolean {
    return this.#leavers.size > 0;
  }

  /** Checks before a program starts; `worked`: whether another is running. */
  async begin(worked: boolean): Promise<ToolingTrace> {
    await this.#options.onEdge(worked);
    const before = this.#carried === null ? await this.#options.look?.() : this.#carried.trace.before;
    return { before: before ?? null, told: new Set() };
  }

  /** Checks when a program has ended. */
  async end(trace: ToolingTrace, { sandbox, process }: EndedProgram): Promise<ToolingReport> {
    const ending = this.#end(trace, { sandbox, process });
    this.#ending.add(ending);
    try {
      return await ending;
    } finally {
      this.#ending.delete(ending);
    }
  }

  /** The same for a change that none of its programs made: what they left running continues. */
  endChange(trace: ToolingTrace, sandbox: string): Promise<ToolingReport> {
    return this.end(trace, { sandbox, process: { isGone: () => Promise.resolve(true) } });
  }

  async #end(trace: ToolingTrace, { sandbox, process }: EndedProgram): Promise<ToolingReport> {
    const { look, onEdge } = this.#options;
    if (look === undefined) return nothingChanged;
    // Checked first: what has already ended changes nothing afterwards.
    this.#leavers.add(process);
    await Promise.all(
      [...this.#leavers].map(async (each) => {
        if (!(await mayRun(each))) this.#leavers.delete(each);
      }),
    );
    await onEdge(true);
    const after = await look();
    const next: ToolingTrace = { before: after, told: new Set() };
    this.#carried = this.hasLeft ? { trace: next, sandbox } : null;
    return this.#compare(trace, after, sandbox);
  }

  /** Makes `reportOf` cover a background process, during its life and afterwards. */
  follow(key: object, trace: ToolingTrace, followed: FollowedProgram): void {
    this.#reports.set(key, async () => {
      const { look } = this.#options;
      return look === undefined ? nothingChanged : this.#compare(trace, await look(), followed.sandbox);
    });
    this.#running.set(key, { trace, sandbox: followed.sandbox });
    const end = (): void => {
      this.#running.delete(key);
      // The last look is after it, or has been.
      const last = this.#last ?? this.end(trace, followed);
      this.#reports.set(key, () => last);
      this.#endedLast?.push(last);
    };
    followed.process.exit.then(end, end);
  }

  /** What has changed since a process was started, until now or its end; null if it is not tracked. */
  async reportOf(key: object): Promise<ToolingReport | null> {
    return (await this.#reports.get(key)?.()) ?? null;
  }

  /** Keeps for `close` what processes have changed that end from now on. */
  ending(): void {
    this.#endedLast ??= [];
  }

  /**
   * Looks once more, when nothing can change anything any more because the sandbox is gone: reports what programs that
   * ran until then, and what commands had left running, changed without being named yet. Calling it again gives the
   * same report.
   */
  close(): Promise<ToolingReport> {
    this.#last ??= this.#close();
    return this.#last;
  }

  async #close(): Promise<ToolingReport> {
    await Promise.all(this.#ending);
    const open = [...this.#running.values(), ...(this.#carried === null ? [] : [this.#carried])];
    const { look } = this.#options;
    try {
      const ended = await Promise.all(this.#endedLast ?? []);
      if (look === undefined || open.length === 0) return joinReports(ended);
      const after = await look();
      return joinReports([...ended, ...open.map(({ trace, sandbox }) => this.#compare(trace, after, sandbox))]);
    } finally {
      for (const sandbox of this.#sandboxes) this.#options.alerts.ended(sandbox);
    }
  }

  #compare({ before, told }: ToolingTrace, after: ToolingLook | null, sandbox: string): ToolingReport {
    const { redact, alerts } = this.#options;
    const gaps = toolingGaps(before, after);
    const files = before === null || after === null ? [] : compareTooling(before.snapshot, after.snapshot);
    const changed = files.map((file) => ({ ...file, path: redact(file.path) }));
    const untold = changed.filter(({ path, change }) => !told.has(`${change} ${path}`));
    for (const { path, change } of untold) told.add(`${change} ${path}`);
    this.#sandboxes.add(sandbox);
    alerts.happened(sandbox, { changed: untold, gaps });
    return { changed, gaps };
  }
}

/** Whether something left by an ended program may still be running. */
async function mayRun(process: EndedProgram["process"]): Promise<boolean> {
  return (await process.isGone?.().catch(() => true)) !== true;
}
