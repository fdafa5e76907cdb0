import { isAtLeast } from "../parser/version.ts";

const numbers = { SIGINT: 2, SIGTERM: 15 } as const;
type Caught = keyof typeof numbers;

/** Signals to the command after which it gives up on a program that they do not reach. */
const lastOne = 3;

/** What signals to the command itself do, which depends on whether it is running a program. */
export class CommandSignals {
  readonly #version: string;
  readonly #warn: (line: string) => void;
  #forward: ((signal: Caught) => void) | undefined;
  #count = 0;
  #isDeaf = false;

  constructor(version: string, warn: (line: string) => void) {
    this.#version = version;
    this.#warn = warn;
    for (const signal of Object.keys(numbers) as Caught[]) process.on(signal, () => this.#arrived(signal));
  }

  /** From here on signals do nothing: the daemon that would answer them hangs. */
  hang(): void {
    this.#isDeaf = true;
  }

  /** From here on signals are meant for the program; `forward` reaches it in versions that can do that. */
  programStarted(forward: (signal: Caught) => void): void {
    this.#forward = forward;
  }

  #arrived(signal: Caught): void {
    if (this.#isDeaf) return;
    if (this.#forward === undefined) process.exit(128 + numbers[signal]);
    if (!isAtLeast(this.#version, "1.0.0")) {
      this.#forward(signal);
      return;
    }
    this.#count += 1;
    const reason = 'invalidArgument: "missing signal in xpc message"';
    this.#warn(`failed to send signal: ["error": ${reason}, "signal": ${numbers[signal]}]`);
    if (this.#count >= lastOne && !process.stdout.isTTY) process.exit(1);
  }
}
