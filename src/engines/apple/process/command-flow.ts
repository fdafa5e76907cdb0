import type { ChildProcessWithoutNullStreams } from "node:child_process";

/** How often something more is taken although nobody reads, and how much of it in all. */
const sipEveryMs = 250;
/** The same of a program that is being killed, without a limit: it may not even have begun, and must not run on. */
const hastyEveryMs = 50;
const maxSippedBytes = 8_388_608;
/** The most that an ended program can have left in all buffers; anything after that is dropped. */
const maxLateBytes = 4_194_304;

/**
 * Holds up the command's output while its reader is slow. The service throws away what an ended program has left for 3 s,
 * and its exit code with it, so a little is taken all the same, up to a limit.
 */
export class CommandFlow {
  readonly #child: ChildProcessWithoutNullStreams;
  #sipped = 0;
  #late = 0;
  #isLetGo = false;
  #isHasty = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
  }

  /** Called when the reader has enough, after bytes have come. */
  hold(bytes: number): void {
    if (this.#isLetGo) return;
    this.#child.stdout.pause();
    this.#child.stderr.pause();
    this.#sipped += bytes;
    if (this.#sipped > maxSippedBytes && !this.#isHasty) return;
    this.#timer ??= setTimeout(() => this.open(), this.#isHasty ? hastyEveryMs : sipEveryMs).unref();
  }

  /** Called when the reader can take more. */
  open(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#child.stdout.resume();
    this.#child.stderr.resume();
  }

  /** The program is being killed: what it leaves must not wait for a reader. */
  hasten(): void {
    this.#isHasty = true;
    this.open();
  }

  /** The program has ended: what is left is taken at once. */
  letGo(): void {
    this.#isLetGo = true;
    this.open();
  }

  /** Whether bytes are kept that have come although the reader has enough. */
  keeps(bytes: number): boolean {
    if (!this.#isLetGo && !this.#isHasty) return true;
    this.#late += bytes;
    return this.#late <= maxLateBytes;
  }
}
