import type { AlertSink } from "../base/alert-sink.ts";
import type { Denial } from "../policy/network/denial.ts";
import {
  pathOfTooling,
  shortenTooling,
  gapSentences,
  type ChangedToolingFile,
  type ToolingGap,
} from "../policy/tooling-changes.ts";
import type { ClearedFiles } from "../sandbox/clear-setuid-bits.ts";
import type { Alert, AlertListener } from "./alert-book.ts";

/** What an alert says of one event, or of all. */
type Saying = Pick<Alert, "value" | "message" | "suggestion">;

/** How the events of one kind become alerts. */
interface AlertKind<Event, Told> {
  readonly kind: Alert["kind"];
  /**
   * What is said of one more event, null: nothing; and what is known of the sandbox from now on. `told`: what was known
   * before; undefined for its first event.
   */
  readonly start: (event: Event, told: Told | undefined) => { readonly told: Told; readonly saying: Saying | null };
  readonly end: (told: Told) => Saying;
}

/** Makes alerts of what happens to sandboxes; they end together, as one. */
export class EventAlerts<Event, Told> implements AlertSink<Event> {
  readonly #told = new Map<string, Told>();
  readonly #kind: AlertKind<Event, Told>;
  readonly #tell: AlertListener;
  readonly #now: () => number;

  /** `now` is in milliseconds since the epoch. */
  constructor(kind: AlertKind<Event, Told>, tell: AlertListener, now: () => number) {
    this.#kind = kind;
    this.#tell = tell;
    this.#now = now;
  }

  happened(sandbox: string, event: Event): void {
    const before = this.#told.get(sandbox);
    const { told, saying } = this.#kind.start(event, before);
    if (before !== undefined || saying !== null) this.#told.set(sandbox, told);
    if (saying !== null) this.#say(sandbox, "start", saying);
  }

  ended(sandbox: string): void {
    const told = this.#told.get(sandbox);
    if (told !== undefined && this.#told.delete(sandbox)) this.#say(sandbox, "end", this.#kind.end(told));
  }

  #say(sandbox: string, state: Alert["state"], saying: Saying): void {
    const timestamp = new Date(this.#now()).toISOString();
    this.#tell({ container_id: sandbox, timestamp, kind: this.#kind.kind, threshold: 0, state, ...saying });
  }
}

/** The part of a refusal that an alert reports. */
type Refusal = Pick<Denial, "target" | "reason" | "remedy">;

/** All refused connections of a sandbox are one alert. */
export const refusedConnections: AlertKind<Refusal, { readonly first: Refusal; readonly count: number }> = {
  kind: "network",
  start: ({ target, reason, remedy }, told) => {
    if (told !== undefined) return { told: { ...told, count: told.count + 1 }, saying: null };
    const message = `A connection to ${target} was refused. ${reason}`;
    return {
      told: { first: { target, reason, remedy }, count: 1 },
      saying: { value: 1, message, suggestion: remedy },
    };
  },
  end: ({ first: { target, reason, remedy }, count }) => {
    const refused =
      count === 1
        ? `A connection to ${target} was refused.`
        : `${count} connections were refused, the first to ${target}.`;
    return { value: count, message: `${refused} ${reason}`, suggestion: remedy };
  },
};

/** What a preview's program reported, or failed to do. */
interface PreviewTrouble {
  readonly summary: string;
  /** Null: no file of the project is named. */
  readonly place: { readonly file: string; readonly line: number } | null;
  readonly lines: readonly string[];
}

/** Characters of a preview's lines in one message. */
const maxCharacters = 4_000;
const lookAtPreview =
  "Correct the file that is named, or what the lines tell of; preview_status and read_logs show the rest of the output.";

/** What goes wrong in previews; one of several errors is over when all are. */
export const previewTroubles: AlertKind<PreviewTrouble, number> = {
  kind: "preview_error",
  start: ({ summary, place, lines }, count = 0) => {
    const at = place === null ? "" : `${place.file}:${place.line}: `;
    const text = lines.join("\n").slice(0, maxCharacters);
    const message = `${at}${summary}${text === "" ? "" : `\n${text}`}`;
    return { told: count + 1, saying: { value: count + 1, message, suggestion: lookAtPreview } };
  },
  end: (count) => ({
    value: count,
    message: "The preview shows this error no more, or has ended.",
    suggestion: lookAtPreview,
  }),
};

const lookAtSetuid =
  "A setuid file gives every user of this machine its owner's rights for as long as it has the bit: find out what set it, and destroy the environment if nothing should have.";
const takenOf = (count: number): string =>
  `The setuid bit was taken of ${count} ${count === 1 ? "file" : "files"} of the project`;

/** Setuid bits that were taken of a project's files. */
export const clearedSetuidBits: AlertKind<ClearedFiles, number> = {
  kind: "setuid_files",
  start: ({ count, names }, before = 0) => {
    const shown = names.map((name) => JSON.stringify(name.slice(-100))).join(", ");
    const message = `${takenOf(count)}: ${shown}${count > names.length ? ", ..." : ""}.`;
    return { told: before + count, saying: { value: count, message, suggestion: lookAtSetuid } };
  },
  end: (count) => ({ value: count, message: `${takenOf(count)} in all.`, suggestion: lookAtSetuid }),
};

/** Names of files in one message. */
const maxNames = 100;
const lookAtTooling = "Look at these files before git, an editor, a shell or an agent is used in the project.";

/** What one comparison found. */
interface ComparedTooling {
  /** What has not been told yet. */
  readonly changed: readonly ChangedToolingFile[];
  readonly gaps: readonly ToolingGap[];
}

/**
 * Each change to files that tools of a project's owner run, and once a sandbox each reason why a comparison was not
 * whole.
 */
export const changedTooling: AlertKind<
  ComparedTooling,
  { readonly changes: number; readonly gaps: ReadonlySet<ToolingGap> }
> = {
  kind: "tooling_files",
  start: ({ changed, gaps }, before = { changes: 0, gaps: new Set() }) => {
    const news = gaps.filter((gap) => !before.gaps.has(gap));
    const told = { changes: before.changes + changed.length, gaps: new Set([...before.gaps, ...news]) };
    if (changed.length + news.length === 0) return { told, saying: null };
    const names = shortenTooling(changed, maxNames).map((file) => `${pathOfTooling(file)} (${file.change})`);
    const changes = `Files that tools of the project's owner run by themselves have changed: ${names.join(", ")}.`;
    const message = [...(changed.length === 0 ? [] : [changes]), ...gapSentences(news)].join(" ");
    return { told, saying: { value: changed.length, message, suggestion: lookAtTooling } };
  },
  end: ({ changes, gaps }) => ({
    value: changes,
    message: [
      `${changes} ${changes === 1 ? "change" : "changes"} to files that tools of the project's owner run.`,
      ...(gaps.size === 0 ? [] : ["Not all of them could be compared."]),
    ].join(" "),
    suggestion: lookAtTooling,
  }),
};
