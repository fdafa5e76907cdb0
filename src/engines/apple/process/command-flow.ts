import type { ChildProcessWithoutNullStreams } from "node:child_process";

/** How often something more is taken although nobody reads, and how much of it in all. */
const sipEveryMs = 250;
const maxSippedBytes = 8_388_608;
/** What an ended program can have left in all buffers; whatever comes after is dropped. */
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
    if (this.#sipped > maxSippedBytes) return;
    this.#timer ??= setTimeout(() => this.open(), sipEveryMs).unref();
  }

  /** Called when the reader can take more. */
  open(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#child.stdout.resume();
    this.#child.stderr.resume();
  }

  /** The program has ended or is being killed: what is left is taken at once. */
  letGo(): void {
    this.#isLetGo = true;
    this.open();
  }

  /** Whether bytes that have come are still a program's. */
  takes(bytes: number): boolean {
    if (!this.#isLetGo) return true;
    this.#late += bytes;
    return this.#late <= maxLateBytes;
  }
}
