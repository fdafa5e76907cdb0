import type { RunningCall } from "../../calls/running-call.ts";
import type { WireAnswer } from "../server/wire-answer.ts";
import type { KeptAnswer } from "./kept-answer.ts";

/** A run and the clients that wait for it: when the last one disconnects it is ended, unless it is detached. */
export class HttpRun {
  readonly call: RunningCall<KeptAnswer>;
  #waiting = 0;
  #goesOn = false;
  #hasEnded = false;
  #isAbandoned = false;

  constructor(call: RunningCall<KeptAnswer>) {
    this.call = call;
    void call.ended.then(() => (this.#hasEnded = true));
  }

  /** Resolves when it has ended. */
  async answer(): Promise<WireAnswer> {
    return (await this.call.ended).read();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether every client disconnected before the end. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** It no longer depends on clients. */
  goOn(): void {
    this.#goesOn = true;
  }

  /** Another client waits, until the signal reports that it has disconnected. */
  join(gone: AbortSignal): void {
    this.#waiting += 1;
    const leave = (): void => {
      this.#waiting -= 1;
      if (this.#waiting > 0 || this.#goesOn || this.#hasEnded) return;
      this.#isAbandoned = true;
      this.call.cancel();
    };
    if (gone.aborted) leave();
    else gone.addEventListener("abort", leave, { once: true });
  }
}
