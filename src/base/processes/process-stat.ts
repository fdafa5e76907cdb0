/** What is read of Linux's `/proc/<pid>/stat`. */
export interface ProcessStat {
  readonly processId: number;
  /** When it started, in the kernel's ticks since boot. */
  readonly startTicks: string;
  /** Whether it is over: it stays listed until its parent asks how it ended, which some never do. */
  readonly hasEnded: boolean;
}

/** The second field, the program's name, may hold spaces and parentheses. */
export function parseProcessStat(text: string): ProcessStat {
  const after = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    processId: Number.parseInt(text, 10),
    startTicks: after[19] ?? "",
    hasEnded: after[0] === "Z" || after[0] === "X",
  };
}
