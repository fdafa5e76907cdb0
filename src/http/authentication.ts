import { secretCheck } from "../base/http/token-proof.ts";
import type { Authenticate, Caller } from "./caller.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { isLoopback } from "../base/http/request-head.ts";
import { createId } from "../base/id.ts";

/** The principal for callers without a key: the user of this process. */
const principal = "local";
export const localPrincipal: string = principal;

/** Accepts the user's token as the user; null: requires none, so every caller is the user. */
export function authenticateLocalUser(token: string | null): Authenticate {
  if (token === null) return () => ({ principal });
  const isToken = secretCheck(token);
  return (bearer) => (isToken(bearer) ? { principal } : null);
}

/** Prefix of all API keys. */
const keyPrefix = "gbx_";

export interface AuthenticationOptions {
  /** Where the server listens. */
  readonly host: string;
  /** The user's own token, for loopback; null: none is required. */
  readonly token: string | null;
  /** API keys; null: there are none. */
  readonly keys: Authenticate | null;
}

/**
 * Decides whose requests are accepted: on loopback those with the user's token or an API key, beyond it only those with
 * a key.
 * @throws POLICY_DENIED beyond loopback without keys, where everyone on the network could run code (SPEC API2)
 */
export function decideAuthentication({ host, token, keys }: AuthenticationOptions): Authenticate {
  const isOwnMachine = isLoopback(host);
  if (!isOwnMachine && keys === null) {
    throw new GloveboxError("POLICY_DENIED", `Without API keys Glovebox only listens on loopback, not on ${host}.`, {
      suggestion:
        "Create a key with `glovebox keys add NAME`, or serve on 127.0.0.1 and reach it from other machines through a tunnel such as ssh -L.",
      context: { host },
    });
  }
  const local: Authenticate = isOwnMachine ? authenticateLocalUser(token) : () => null;
  return async (bearer) => {
    const caller = (await keys?.(bearer)) ?? null;
    // An invalid key is refused even if no token is required.
    return caller === null && !bearer.startsWith(keyPrefix) ? local(bearer) : caller;
  };
}

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
