import { pathOfTooling, shortenTooling, type ChangedToolingFile } from "../policy/tooling/tooling-changes.ts";
import type { Alert, AlertListener } from "./alert.ts";

/** Names in one message. */
const maxNames = 100;

/** Makes an alert of each change to files that tools of a project's owner run; they end with the sandbox, as one. */
export class ToolingAlerts {
  readonly #counts = new Map<string, number>();
  readonly #tell: AlertListener;
  readonly #now: () => number;

  /** `now` is in milliseconds since the epoch. */
  constructor(tell: AlertListener, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  changed(sandbox: string, files: readonly ChangedToolingFile[]): void {
    this.#counts.set(sandbox, (this.#counts.get(sandbox) ?? 0) + files.length);
    const names = shortenTooling(files, maxNames).map((file) => `${pathOfTooling(file)} (${file.change})`);
    const message = `Files that tools of the project's owner run by themselves have changed: ${names.join(", ")}.`;
    this.#tell(this.#alert(sandbox, "start", files.length, message));
  }

  ended(sandbox: string): void {
    const count = this.#counts.get(sandbox);
    if (count === undefined || !this.#counts.delete(sandbox)) return;
    const message = `${count} ${count === 1 ? "change" : "changes"} to files that tools of the project's owner run.`;
    this.#tell(this.#alert(sandbox, "end", count, message));
  }

  #alert(sandbox: string, state: Alert["state"], value: number, message: string): Alert {
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
