import { pathOfTooling, shortenTooling, type ChangedToolingFile } from "../policy/tooling/tooling-changes.ts";
import { gapSentences, type ToolingGap } from "../policy/tooling/tooling-gaps.ts";
import type { Alert, AlertListener } from "./alert.ts";

/** Names in one message. */
const maxNames = 100;

/** What one comparison found. */
export interface ComparedTooling {
  /** What has not been told yet. */
  readonly changed: readonly ChangedToolingFile[];
  readonly gaps: readonly ToolingGap[];
}

/** What was told of a sandbox. */
interface Told {
  changes: number;
  readonly gaps: Set<ToolingGap>;
}

/**
 * Makes an alert of each change to files that tools of a project's owner run, and once a sandbox of each reason why a
 * comparison was not whole; they end with the sandbox, as one.
 */
export class ToolingAlerts {
  readonly #told = new Map<string, Told>();
  readonly #tell: AlertListener;
  readonly #now: () => number;

  /** `now` is in milliseconds since the epoch. */
  constructor(tell: AlertListener, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  compared(sandbox: string, { changed, gaps }: ComparedTooling): void {
    const told = this.#told.get(sandbox) ?? { changes: 0, gaps: new Set() };
    const news = gaps.filter((gap) => !told.gaps.has(gap));
    if (changed.length + news.length === 0) return;
    this.#told.set(sandbox, told);
    told.changes += changed.length;
    for (const gap of news) told.gaps.add(gap);
    const names = shortenTooling(changed, maxNames).map((file) => `${pathOfTooling(file)} (${file.change})`);
    const changes = `Files that tools of the project's owner run by themselves have changed: ${names.join(", ")}.`;
    const message = [...(changed.length === 0 ? [] : [changes]), ...gapSentences(news)].join(" ");
    this.#tell(this.#alert(sandbox, { state: "start", value: changed.length, message }));
  }

  ended(sandbox: string): void {
    const told = this.#told.get(sandbox);
    if (told === undefined || !this.#told.delete(sandbox)) return;
    const { changes, gaps } = told;
    const message = [
      `${changes} ${changes === 1 ? "change" : "changes"} to files that tools of the project's owner run.`,
      ...(gaps.size === 0 ? [] : ["Not all of them could be compared."]),
    ].join(" ");
    this.#tell(this.#alert(sandbox, { state: "end", value: changes, message }));
  }

  #alert(sandbox: string, { state, value, message }: Pick<Alert, "state" | "value" | "message">): Alert {
    return {
      container_id: sandbox,
      timestamp: new Date(this.#now()).toISOString(),
      kind: "tooling_files",
      value,
      threshold: 0,
      state,
      message,
      suggestion: "Look at these files before git, an editor, a shell or an agent is used in the project.",
    };
  }
}
