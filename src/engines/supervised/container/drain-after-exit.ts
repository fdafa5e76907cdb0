import type { Program } from "../channel/program.ts";

/** How often the output of a program that has ended is looked at, in milliseconds. */
const lookMs = 250;
/** With nothing new at so many looks, nothing more of the program is in its pipes. */
const maxSilentLooks = 2;
/** A child that was left behind may write on; after so many looks all of it is the child's. */
const maxLooks = 10;
/** More than any pipe has: what comes after it is a child's. */
const maxBytes = 4_194_304;

/**
 * Ends the output of a program soon after its own end, although what it has started may still hold its pipes: a daemon would
 * otherwise hold up whoever reads its parent's output. What the daemon writes from then on is thrown away.
 */
export function drainAfterExit(program: Program): void {
  const { output } = program;
  const drain = (): void => {
    // What is left in the pipes is taken whether or not anybody reads.
    output.letGo();
    const atExit = output.receivedBytes;
    let [seen, looks, silentLooks] = [atExit, 0, 0];
    const timer = setInterval(() => {
      // After a pause of the whole server the timer fires before data that arrived meanwhile.
      setImmediate(() => {
        const { receivedBytes } = output;
        looks += 1;
        silentLooks = receivedBytes === seen ? silentLooks + 1 : 0;
        seen = receivedBytes;
        if (silentLooks >= maxSilentLooks || looks >= maxLooks || seen - atExit > maxBytes) output.end();
      });
    }, lookMs);
    void output.whenEnded.then(() => clearInterval(timer));
  };
  program.exit.then(drain, () => output.end());
}
