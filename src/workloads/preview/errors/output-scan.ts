import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";
import type { OutputChunk } from "../../../engines/engine.ts";
import { ErrorScanner, type ErrorScannerListener } from "./error-scanner.ts";

/** After so long without a further line an error is told with what there is of it. */
const quietMs = 300;
/** A line that does not end is cut here. */
const maxLineCharacters = 8_192;
/** Lines that are looked at in a second: a flood is not read. */
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
    clearTimeout(this.#quiet);
    if (this.#isOpen) this.#quiet = setTimeout(() => this.flush(), quietMs).unref();
  }

  /** Tells what is open: nothing follows. */
  flush(): void {
    clearTimeout(this.#quiet);
    for (const { scanner } of Object.values(this.#streams)) scanner.flush();
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
