import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import type { OutputChunk } from "../../../engines/engine.ts";
import { ErrorScanner, type ErrorScannerListener } from "./error-scanner.ts";

/** After this long without a further line an error is reported as far as it is known. */
const quietMs = 300;
/** After this long it is reported anyway, whatever follows: an alert has two seconds (SPEC PV3). */
const openMs = 1_000;
/** A line that does not end is cut here. */
const maxLineCharacters = 2_048;
/** Lines that are examined per second: a flood is not read. */
const maxLinesPerSecond = 2_000;

interface Stream {
  readonly decoder: StringDecoder;
  readonly scanner: ErrorScanner;
  rest: string;
}

/** Looks for errors in what a program writes, each stream by itself. */
export class OutputScan {
  readonly #streams: Readonly<Record<OutputChunk["stream"], Stream>>;
  readonly #monotonicMs: () => number;
  #quiet: NodeJS.Timeout | undefined;
  /** Since when an error is open; null: none is. */
  #openedMs: number | null = null;
  #second = 0;
  #linesInSecond = 0;

  /** `monotonicMs`: milliseconds of a clock that never goes back. */
  constructor(listener: ErrorScannerListener, monotonicMs: () => number) {
    const stream = (): Stream => ({
      decoder: new StringDecoder("utf8"),
      scanner: new ErrorScanner(listener),
      rest: "",
    });
    this.#streams = { stdout: stream(), stderr: stream() };
    this.#monotonicMs = monotonicMs;
  }

  write({ stream: name, bytes }: OutputChunk): void {
    const stream = this.#streams[name];
    const lines = `${stream.rest}${stream.decoder.write(Buffer.from(bytes))}`.split("\n");
    stream.rest = (lines.pop() ?? "").slice(-maxLineCharacters);
    for (const line of lines) {
      if (!this.#isPaceLeft()) break;
      stream.scanner.line(stripVTControlCharacters(line.slice(0, maxLineCharacters)).trimEnd());
    }
    this.#await();
  }

  /** Reports what is open: nothing follows. */
  flush(): void {
    clearTimeout(this.#quiet);
    this.#openedMs = null;
    for (const { scanner } of Object.values(this.#streams)) scanner.flush();
  }

  /** Reports what is open when no more lines come, or when it has been open for long. */
  #await(): void {
    clearTimeout(this.#quiet);
    if (!this.#isOpen) {
      this.#openedMs = null;
      return;
    }
    const nowMs = this.#monotonicMs();
    this.#openedMs ??= nowMs;
    const leftMs = this.#openedMs + openMs - nowMs;
    if (leftMs <= 0) this.flush();
    else this.#quiet = setTimeout(() => this.flush(), Math.min(quietMs, leftMs)).unref();
  }

  get #isOpen(): boolean {
    return Object.values(this.#streams).some(({ scanner }) => scanner.isOpen);
  }

  #isPaceLeft(): boolean {
    const second = Math.floor(this.#monotonicMs() / 1_000);
    if (second !== this.#second) this.#linesInSecond = 0;
    this.#second = second;
    return ++this.#linesInSecond <= maxLinesPerSecond;
  }
}
