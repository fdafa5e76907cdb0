import { setTimeout as sleep } from "node:timers/promises";
import type { CallOperation } from "../operations/contract/operation-call.ts";
import {
  readLogsContract,
  type ReadLogsRequest,
  type ReadLogsResponse,
} from "../operations/logs/read-logs-contract.ts";

/**
 * A reader that follows a log requests the next part immediately; one that does not within this time is considered
 * gone.
 */
const returnWithinMs = 1_000;
const lookEachMs = 10;

/** The readers that follow logs of this process by polling, so that the process does not end between two requests. */
export class LogReaders {
  #asking = 0;
  readonly #returning = new Set<NodeJS.Timeout>();

  /** The same call, with readers tracked. */
  watch(call: CallOperation): CallOperation {
    return async (contract, request, how) => {
      if (contract.name !== readLogsContract.name) return call(contract, request, how);
      this.#asking += 1;
      this.#forgetOne();
      try {
        const page = await call(contract, request, how);
        if (isFollowed(request, page as ReadLogsResponse)) this.#expectOne();
        return page;
      } finally {
        this.#asking -= 1;
      }
    };
  }

  /** Resolves when all have read everything, or the time is up. */
  async served(withinMs: number): Promise<void> {
    for (let waited = 0; waited < withinMs && this.#asking + this.#returning.size > 0; waited += lookEachMs) {
      await sleep(lookEachMs);
    }
  }

  #expectOne(): void {
    const timer = setTimeout(() => this.#returning.delete(timer), returnWithinMs).unref();
    this.#returning.add(timer);
  }

  #forgetOne(): void {
    const [timer] = this.#returning;
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#returning.delete(timer);
  }
}

function isFollowed({ wait_seconds: waitSeconds = 0 }: Partial<ReadLogsRequest>, page: ReadLogsResponse): boolean {
  return waitSeconds > 0 && !page.is_over;
}
