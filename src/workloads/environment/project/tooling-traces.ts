import type { Process } from "../../../engines/engine.ts";
import { compareTooling, type ChangedToolingFile } from "../../../policy/tooling/tooling-changes.ts";
import type { ToolingLook } from "../../../sandbox/tooling/look-at-tooling.ts";
import type { ToolingReport } from "../../run/explain-tooling.ts";

/** Receives changes in a sandbox, and once the end of a sandbox that had any. */
export interface ToolingListener {
  changed(sandbox: string, files: readonly ChangedToolingFile[]): void;
  ended(sandbox: string): void;
}

export interface ToolingTracesOptions {
  /** Null if unknown; undefined: commands cannot change the project. */
  readonly look: (() => Promise<ToolingLook | null>) | undefined;
  /** Removes secrets from names that programs chose. */
  readonly redact: (text: string) => string;
  readonly alerts: ToolingListener;
  /** Called when a program begins and ends; `worked`: whether one was running. Never rejects. */
  readonly onEdge: (worked: boolean) => Promise<void>;
}

/** The state before a program, and the changes reported since. */
export interface ToolingTrace {
  readonly before: ToolingLook | null;
  readonly told: Set<string>;
}

/** A program that runs in a sandbox. */
export interface FollowedProgram {
  readonly sandbox: string;
  readonly process: Pick<Process, "isGone" | "exit">;
}

/** The same, when it is about to end or has ended. */
type EndedProgram = Pick<FollowedProgram, "sandbox"> & { readonly process: Pick<Process, "isGone"> };

const nothing: ToolingReport = { changed: [], isWhole: true };

/**
 * Reports which files run by the project owner's tools an environment's programs change. What a program leaves running
 * is attributed to the next program, as changes between the two may not be the owner's.
 */
export class ToolingTraces {
  readonly #options: ToolingTracesOptions;
  readonly #ending = new Set<Promise<unknown>>();
  readonly #changedIn = new Set<string>();
  readonly #reports = new WeakMap<object, () => Promise<ToolingReport>>();
  /** The state when a program ended and left something running; the next one starts from it. */
  #carried: ToolingLook | null = null;
  #hasLeft = false;

  constructor(options: ToolingTracesOptions) {
    this.#options = options;
  }

  /** Whether an ended program left something running, as far as known. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Checks before a program starts; `worked`: whether another is running. */
  async begin(worked: boolean): Promise<ToolingTrace> {
    await this.#options.onEdge(worked);
    return { before: this.#carried ?? (await this.#options.look?.()) ?? null, told: new Set() };
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
    return this.end(trace, { sandbox, process: { isGone: () => Promise.resolve(!this.#hasLeft) } });
  }

  async #end(trace: ToolingTrace, { sandbox, process }: EndedProgram): Promise<ToolingReport> {
    const { look, onEdge } = this.#options;
    if (look === undefined) return nothing;
    // Checked first: what has already ended changes nothing afterwards.
    this.#hasLeft = await mayRun(process);
    await onEdge(true);
    const after = await look();
    this.#carried = this.#hasLeft ? after : null;
    return this.#compare(trace, after, sandbox);
  }

  /** Makes `reportOf` cover a background process, during its life and afterwards. */
  follow(key: object, trace: ToolingTrace, followed: FollowedProgram): void {
    this.#reports.set(key, async () => {
      const { look } = this.#options;
      return look === undefined ? nothing : this.#compare(trace, await look(), followed.sandbox);
    });
    const end = (): void => {
      const last = this.end(trace, followed);
      this.#reports.set(key, () => last);
    };
    followed.process.exit.then(end, end);
  }

  /** What has changed since a process was started, until now or its end; null if it is not tracked. */
  async reportOf(key: object): Promise<ToolingReport | null> {
    return (await this.#reports.get(key)?.()) ?? null;
  }

  /** Waits for checks in progress; call this when no program is running any more. */
  async close(): Promise<void> {
    await Promise.all(this.#ending);
    for (const sandbox of this.#changedIn) this.#options.alerts.ended(sandbox);
  }

  #compare({ before, told }: ToolingTrace, after: ToolingLook | null, sandbox: string): ToolingReport {
    const { redact, alerts } = this.#options;
    if (before === null || after === null) return { changed: [], isWhole: false };
    const changed = compareTooling(before.snapshot, after.snapshot).map((file) => ({
      ...file,
      path: redact(file.path),
    }));
    const untold = changed.filter(({ path, change }) => !told.has(`${change} ${path}`));
    for (const { path, change } of untold) told.add(`${change} ${path}`);
    if (untold.length > 0) {
      this.#changedIn.add(sandbox);
      alerts.changed(sandbox, untold);
    }
    return { changed, isWhole: before.isWhole && after.isWhole };
  }
}

/** Whether something left by an ended program may still be running. */
async function mayRun(process: EndedProgram["process"]): Promise<boolean> {
  return (await process.isGone?.().catch(() => true)) !== true;
}
