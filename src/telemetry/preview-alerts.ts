import type { Alert, AlertListener } from "./alert.ts";

/** What a preview's program reported, or failed to do. */
export interface PreviewTrouble {
  readonly summary: string;
  /** Null: no file of the project is named. */
  readonly place: { readonly file: string; readonly line: number } | null;
  readonly lines: readonly string[];
}

/** Characters of the lines in one message. */
const maxCharacters = 4_000;

const suggestion =
  "Correct the file that is named, or what the lines tell of; preview_status and read_logs show the rest of the output.";

/** Makes alerts of what goes wrong in previews; one of several errors is over when all are. */
export class PreviewAlerts {
  readonly #counts = new Map<string, number>();
  readonly #tell: AlertListener;
  readonly #now: () => number;

  /** `now` is in milliseconds since the epoch. */
  constructor(tell: AlertListener, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  failed(sandbox: string, { summary, place, lines }: PreviewTrouble): void {
    const count = (this.#counts.get(sandbox) ?? 0) + 1;
    this.#counts.set(sandbox, count);
    const at = place === null ? "" : `${place.file}:${place.line}: `;
    const text = lines.join("\n").slice(0, maxCharacters);
    this.#tell(this.#alert(sandbox, "start", count, `${at}${summary}${text === "" ? "" : `\n${text}`}`));
  }

  recovered(sandbox: string): void {
    const count = this.#counts.get(sandbox);
    if (count === undefined || !this.#counts.delete(sandbox)) return;
    this.#tell(this.#alert(sandbox, "end", count, "The preview shows this error no more, or has ended."));
  }

  #alert(sandbox: string, state: Alert["state"], value: number, message: string): Alert {
    return {
      container_id: sandbox,
      timestamp: new Date(this.#now()).toISOString(),
      kind: "preview_error",
      value,
      threshold: 0,
      state,
      message,
      suggestion,
    };
  }
}
