import { createId } from "../../base/id.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../auth/caller.ts";

interface Ticket {
  readonly caller: Caller;
  readonly madeMs: number;
}

/** How long a ticket is valid (SPEC API2). */
export const ticketSeconds = 30;
/** Maximum valid tickets of one principal at a time. */
const maxTickets = 100;

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
    const own = [...this.#tickets.values()].filter((ticket) => ticket.caller.principal === caller.principal);
    if (own.length >= maxTickets) {
      throw new GloveboxError("CAPACITY", `${maxTickets} tickets wait to be used.`, {
        suggestion: `Use them, or wait ${ticketSeconds} s.`,
        context: { retry_after_seconds: ticketSeconds },
      });
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
