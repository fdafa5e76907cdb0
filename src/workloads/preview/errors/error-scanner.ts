import { headOf, isRecovery, linesBefore, provesError, type ErrorNature } from "./error-patterns.ts";
import { placeOfError, type ErrorPlace } from "./error-place.ts";

/** An error that a preview's program has reported. */
export interface PreviewError {
  readonly nature: ErrorNature | "exit" | "silence";
  /** One line. */
  readonly summary: string;
  /** Null: no file of the project is named. */
  readonly place: ErrorPlace | null;
  /** The newest part of its output about it. */
  readonly lines: readonly string[];
}

export interface ErrorScannerListener {
  readonly onError: (error: PreviewError) => void;
  /** The build works again. */
  readonly onRecovery: () => void;
}

/** Lines of one error: what is beyond belongs to no alert. */
const max = { lines: 30, characters: 500 } as const;
/** Lines in which what was thrown is looked for. */
const earlierLines = 8;

/** Finds errors in the lines of a program, each with the lines that follow it. */
export class ErrorScanner {
  readonly #listener: ErrorScannerListener;
  #earlier: string[] = [];
  #open: { readonly nature: ErrorNature; readonly lines: string[] } | null = null;

  constructor(listener: ErrorScannerListener) {
    this.#listener = listener;
  }

  /** Whether lines of an error wait for those that follow: `flush` when none come. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** One line without control sequences. */
  line(whole: string): void {
    const line = whole.slice(0, max.characters);
    if (isRecovery(line)) {
      this.flush();
      this.#listener.onRecovery();
    } else {
      this.#take(line);
    }
    this.#earlier = [...this.#earlier.slice(1 - earlierLines), line];
  }

  /** Nothing follows for now: the open error is reported. */
  flush(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    this.#earlier = [];
    const lines = open.lines.join("\n").trimEnd().split("\n");
    this.#listener.onError({ nature: open.nature, summary: summaryOf(lines), place: placeOfError(lines), lines });
  }

  #take(line: string): void {
    const nature = headOf(line);
    if (nature !== null && (this.#open === null || this.#open.lines.length > 1)) {
      this.flush();
      this.#open = { nature, lines: [line] };
    } else if (this.#open !== null) {
      this.#open.lines.push(line);
    } else if (provesError(line)) {
      const before = this.#earlier.slice(this.#earlier.length - linesBefore(this.#earlier));
      this.#open = { nature: "stack", lines: [...before, line] };
    }
    if ((this.#open?.lines.length ?? 0) >= max.lines) this.flush();
  }
}

/** What was wrong: the line that says so, which of Python's is the last. */
function summaryOf(lines: readonly string[]): string {
  const isPython = lines.some((line) => /^\s*File "[^"]+", line \d+/.test(line));
  const told = isPython ? lines.findLast((line) => /^[\w.]+(?:: |$)/.test(line)) : undefined;
  return (told ?? lines.find((line) => line.trim() !== "") ?? "").trim();
}
