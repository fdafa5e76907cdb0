import { createId } from "../base/id.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Caller } from "./caller.ts";

interface Ticket {
  readonly caller: Caller;
  readonly madeMs: number;
}

/** How long a ticket is valid (SPEC API2). */
export const ticketSeconds = 30;
/**
 * Maximum valid tickets of one principal at a time, and of all. Nobody has more than half of what is left, so that a few which
 * make all they may leave some for another.
 */
const maxOfOne = 100;
const maxOfAll = 1_000;

/**
 * Tickets with which a browser, which cannot send a header along, opens a WebSocket: each is valid once, and for 30 s.
 */
export class Tickets {
  readonly #tickets = new Map<string, Ticket>();
  readonly #monotonicMs: () => number;

  /** `monotonicMs`: milliseconds of a clock that never goes back. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** @throws CAPACITY for one too many */
  make(caller: Caller): string {
    this.#forgetOld();
    let own = 0;
    for (const ticket of this.#tickets.values()) if (ticket.caller.principal === caller.principal) own += 1;
    if (own >= Math.min(maxOfOne, Math.floor((maxOfAll - this.#tickets.size) / 2))) {
      throw new GloveboxError(
        "CAPACITY",
        `${own} of your tickets wait to be used, which is as much as may be at once.`,
        {
          suggestion: `Use them, or wait ${ticketSeconds} s.`,
          context: { retry_after_seconds: ticketSeconds },
        },
      );
    }
    const text = createId("tkt");
    this.#tickets.set(text, { caller, madeMs: this.#monotonicMs() });
    return text;
  }

  /** Its owner, the first time it is used; null: unknown, expired, or its key was revoked. */
  take(text: string): Caller | null {
    this.#forgetOld();
    const ticket = this.#tickets.get(text);
    this.#tickets.delete(text);
    return ticket === undefined || ticket.caller.revoked?.aborted === true ? null : ticket.caller;
  }

  #forgetOld(): void {
    const oldestMs = this.#monotonicMs() - ticketSeconds * 1_000;
    for (const [text, { madeMs }] of this.#tickets) {
      if (madeMs >= oldestMs) return;
      this.#tickets.delete(text);
    }
  }
}
