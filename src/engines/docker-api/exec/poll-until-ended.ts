const firstLookMs = 100;
const maxMs = 1_000;

/**
 * Looks until `look` gives something else than `running`: when `nudge` resolves, and else after 0.1 s and then ever
 * more seldom, at least once a second.
 * The nudge is the end of a program's stream, the best moment to look but no sure one: a program that left its streams
 * to a child, or whose output nobody reads, ends without it. After it the looks start anew, a millisecond apart,
 * because an engine learns of the program's end a little after the stream's.
 */
export async function pollUntilEnded<T>(look: () => Promise<T | "running">, nudge: Promise<void>): Promise<T> {
  let delayMs = firstLookMs;
  let nudged = false;
  let wake: (() => void) | undefined;
  void nudge.then(() => {
    nudged = true;
    wake?.();
  });
  for (;;) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (nudged) wake();
    });
    if (nudged) {
      nudged = false;
      delayMs = 1;
    }
    const found = await look();
    if (found !== "running") return found;
    delayMs = nudged ? 0 : Math.min(delayMs * 2, maxMs);
  }
}
