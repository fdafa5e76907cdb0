import type { OutputStream } from "./program-output.ts";
import { escapeLine } from "./terminal-escape.ts";

const barWidth = 24;

/** A progress line on a terminal that is overwritten; silent if stderr is not a terminal. */
export class ProgressLine {
  readonly #target: OutputStream;
  #shown = false;

  constructor(target: OutputStream) {
    this.#target = target;
  }

  show(message: string, fraction: number | null): void {
    if (!this.#target.isTTY) return;
    const bar = fraction === null ? "" : ` ${progressBar(fraction)}`;
    this.#target.write(`\r\x1b[K${escapeLine(message)}${bar}`);
    this.#shown = true;
  }

  /** Clears the line, so that whatever comes next starts clean. */
  clear(): void {
    if (this.#shown) this.#target.write("\r\x1b[K");
    this.#shown = false;
  }
}

/** `[#####-----] 50 %` of a fraction between 0 and 1. */
function progressBar(fraction: number): string {
  const share = Math.min(1, Math.max(0, fraction));
  const filled = Math.round(share * barWidth);
  return `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}] ${Math.round(share * 100)} %`;
}
