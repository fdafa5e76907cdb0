import { ProtocolError } from "../frames/frame.ts";
import type { SandboxNumbers } from "../frames/tree-records.ts";
import { Question } from "./questions.ts";

/** How often the numbers of a sandbox that are pushed come. */
const pushEveryMs = 1_000;
/**
 * What may come between two heartbeats: more than the supervisor pushes until it gives up, as all of that comes at once when this
 * process was stopped meanwhile.
 */
const maxBetweenBeats = 96;

/** The numbers of one sandbox: those that were asked for, and those that are pushed each second from the first call of `push` on. */
export class SandboxMeter {
  readonly #ask: (intervalMs: number) => void;
  readonly #question = new Question<SandboxNumbers>(() => this.#send(0));
  #listener: ((numbers: SandboxNumbers) => void) | undefined;
  /** How many answers may still come. */
  #due = 0;

  /** `ask` sends NUMBERS with this interval. */
  constructor(ask: (intervalMs: number) => void) {
    this.#ask = ask;
  }

  ask(): Promise<SandboxNumbers> {
    return this.#question.ask();
  }

  /** Has the numbers pushed: to `listener`, in place of an earlier one, now and then each second. */
  push(listener: (numbers: SandboxNumbers) => void): void {
    const isPushed = this.#listener !== undefined;
    this.#listener = listener;
    if (isPushed) return;
    this.#due += maxBetweenBeats;
    this.#send(pushEveryMs);
  }

  /** A heartbeat: more may come. */
  beat(): void {
    if (this.#listener !== undefined) this.#due = Math.max(this.#due, maxBetweenBeats);
  }

  /** What came, for whoever waits for it. @throws ProtocolError for more than was asked for and is pushed */
  answer(numbers: SandboxNumbers): void {
    if (this.#due === 0) throw new ProtocolError("numbers that nobody asked for");
    this.#due -= 1;
    if (this.#question.isAsked) this.#question.answer(numbers);
    this.#listener?.(numbers);
  }

  /** There will be no more. */
  lose(error: Parameters<Question<never>["settle"]>[0]): void {
    this.#question.settle(error);
  }

  #send(intervalMs: number): void {
    this.#due += 1;
    this.#ask(intervalMs);
  }
}
