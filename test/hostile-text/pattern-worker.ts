import { attackStrings, textOf } from "./attack-strings.ts";
import type { WorkerMessage } from "./bounded-work.ts";

export interface PatternJob {
  readonly source: string;
  readonly flags: string;
}

/** What goes back and forth in so much takes a minute or longer. */
const characters = 2 ** 18;

function tell(message: WorkerMessage): void {
  process.send?.(message);
}

process.on("message", ({ source, flags }: PatternJob) => {
  const pattern = new RegExp(source, flags.replaceAll("g", ""));
  for (const attack of attackStrings(source, flags)) {
    tell({ kind: "begins", step: JSON.stringify(attack) });
    pattern.test(textOf(attack, characters));
  }
  tell({ kind: "ended", problem: null });
});
