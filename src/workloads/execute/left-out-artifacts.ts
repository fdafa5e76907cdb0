/** Something that a program left and that is not returned. */
export interface LeftOut {
  readonly path: string;
  /** One sentence or more. */
  readonly reason: string;
}

/** Names in one warning, and characters of one name. */
const maxNames = 10;
const maxNameCharacters = 200;

/** One warning for each reason, in the order given. */
export function leftOutWarnings(all: readonly LeftOut[]): readonly string[] {
  const byReason = Map.groupBy(all, ({ reason }) => reason);
  return [...byReason].map(([reason, same]) => {
    const names = same.slice(0, maxNames).map(({ path }) => JSON.stringify(path.slice(0, maxNameCharacters)));
    const more = same.length - names.length;
    return `artifacts: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""} left out. ${reason}`;
  });
}
