import type { Denial } from "../policy/network/denial.ts";
import type { Alert, AlertListener } from "./alert.ts";

/** The part of a refusal that an alert reports. */
type Refusal = Pick<Denial, "target" | "reason" | "remedy">;

interface Running {
  readonly first: Refusal;
  count: number;
}

/** Makes one alert of all the refused connections of a sandbox: it starts with the first and ends with the network. */
export class NetworkAlerts {
  readonly #running = new Map<string, Running>();
  readonly #tell: AlertListener;
  readonly #now: () => number;

  /** `now` is in milliseconds since the epoch. */
  constructor(tell: AlertListener, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  refused(sandbox: string, refusal: Refusal): void {
    const running = this.#running.get(sandbox);
    if (running !== undefined) {
      running.count++;
      return;
    }
    const first = { target: refusal.target, reason: refusal.reason, remedy: refusal.remedy };
    this.#running.set(sandbox, { first, count: 1 });
    this.#tell(this.#alert(sandbox, "start", { first, count: 1 }, wordsOf(first.target, 1)));
  }

  ended(sandbox: string): void {
    const running = this.#running.get(sandbox);
    if (running === undefined) return;
    this.#running.delete(sandbox);
    this.#tell(this.#alert(sandbox, "end", running, wordsOf(running.first.target, running.count)));
  }

  #alert(sandbox: string, state: Alert["state"], { first, count }: Running, words: string): Alert {
    return {
      container_id: sandbox,
      timestamp: new Date(this.#now()).toISOString(),
      kind: "network",
      value: count,
      threshold: 0,
      state,
      message: `${words} ${first.reason}`,
      suggestion: first.remedy,
    };
  }
}

/** What was refused, in one sentence. */
function wordsOf(target: string, count: number): string {
  return count === 1
    ? `A connection to ${target} was refused.`
    : `${count} connections were refused, the first to ${target}.`;
}
