import type { Denial } from "../../policy/network/denial.ts";
import type { NetworkReport } from "./explain-network.ts";

/** Denials of one run that are kept; more are counted. */
const maxKept = 20;

/** Collects the connections that one of several programs of a sandbox was refused. */
export class DenialLog {
  readonly #onDenied: (denial: Denial) => void;
  readonly #kept: Denial[] = [];
  #count = 0;

  /** `onDenied` is told of each. */
  constructor(onDenied: (denial: Denial) => void) {
    this.#onDenied = onDenied;
  }

  add(denial: Denial): void {
    this.#count += 1;
    if (this.#kept.length < maxKept) this.#kept.push(denial);
    this.#onDenied(denial);
  }

  /** Those until now; `isLost`: whether the egress proxy has ended. */
  report(isLost: boolean): NetworkReport {
    return { denials: [...this.#kept], denialCount: this.#count, isLost };
  }
}
