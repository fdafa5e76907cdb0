import type { Denial } from "../policy/network/denial.ts";
import type { Alert, AlertListener } from "./alert.ts";

/** The part of a refusal that an alert reports. */
type Refusal = Pick<Denial, "reason" | "remedy">;

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
    const first = { reason: refusal.reason, remedy: refusal.remedy };
    this.#running.set(sandbox, { first, count: 1 });
    this.#tell(this.#alert(sandbox, "start", { first, count: 1 }, `A connection was refused. ${first.reason}`));
  }

  ended(sandbox: string): void {
    const running = this.#running.get(sandbox);
    if (running === undefined) return;
    this.#running.delete(sandbox);
    const { count, first } = running;
    const words = count === 1 ? "1 connection was refused." : `${count} connections were refused; of the first:`;
    this.#tell(this.#alert(sandbox, "end", running, `${words} ${first.reason}`));
  }

  #alert(sandbox: string, state: Alert["state"], { first, count }: Running, message: string): Alert {
    return {
      container_id: sandbox,
      timestamp: new Date(this.#now()).toISOString(),
      kind: "network",
      value: count,
      threshold: 0,
      state,
      message,
      suggestion: first.remedy,
    };
  }
}
