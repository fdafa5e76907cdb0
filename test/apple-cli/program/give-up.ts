import { kill } from "node:process";

/** How long a reader has for the remaining output of an ended program. */
const lastsMs = 3000;
const lookEveryMs = 100;

/** Whether a process on this machine has ended. */
export function hasEnded(pid: number): boolean {
  try {
    kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Waits for the work, but only three seconds once the program has ended; returns whether the work was done. */
export async function unlessGivenUp(work: Promise<void>, isOver: () => boolean): Promise<boolean> {
  let over: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<false>((resolve) => {
    timer = setInterval(() => {
      if (over === undefined && isOver()) over = Date.now();
      if (over !== undefined && Date.now() - over > lastsMs) resolve(false);
    }, lookEveryMs);
  });
  try {
    return await Promise.race([work.then(() => true), givenUp]);
  } finally {
    clearInterval(timer);
  }
}
