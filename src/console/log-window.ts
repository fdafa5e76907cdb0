/** A line of a log, as far as it is shown. */
export interface LogLine {
  readonly offset: number;
  readonly timestamp: string;
  readonly stream: "stdout" | "stderr" | "system";
  readonly message: string;
  readonly partial?: boolean | undefined;
  readonly dropped?: number | undefined;
}

/** The part of a log that the page holds: no more than this, however long the log is. */
export interface LogWindow {
  readonly lines: readonly LogLine[];
  /** Of all lines together. */
  readonly characters: number;
  /** Where the log continues after the last line. */
  readonly nextOffset: number;
  /** Whether newer lines exist that are not held: they are fetched when they are wanted. */
  readonly isBehind: boolean;
}

export const emptyWindow: LogWindow = { lines: [], characters: 0, nextOffset: 0, isBehind: false };

/** Bounds of a window. */
export const windowBounds = { lines: 10_000, characters: 8 * 1024 * 1024 } as const;

/** The window with lines behind its last; the oldest leave it. */
export function appended(window: LogWindow, added: readonly LogLine[]): LogWindow {
  const fresh = added.filter(({ offset }) => offset >= window.nextOffset);
  const last = fresh.at(-1);
  if (last === undefined) return window;
  const lines = [...window.lines, ...fresh];
  let characters = window.characters + charactersOf(fresh);
  let first = 0;
  while (
    lines.length - first > windowBounds.lines ||
    (characters > windowBounds.characters && first < lines.length - 1)
  ) {
    characters -= lines[first]?.message.length ?? 0;
    first += 1;
  }
  return { ...window, lines: first === 0 ? lines : lines.slice(first), characters, nextOffset: endOf(last) };
}

/** The window with lines before its first; the newest leave it, and are fetched again when they are wanted. */
export function prepended(window: LogWindow, added: readonly LogLine[]): LogWindow {
  const firstOffset = window.lines[0]?.offset ?? window.nextOffset;
  const lines = [...added.filter(({ offset }) => offset < firstOffset), ...window.lines];
  let characters = window.characters + charactersOf(added);
  let { nextOffset, isBehind } = window;
  while (lines.length > windowBounds.lines || (characters > windowBounds.characters && lines.length > 1)) {
    const last = lines.pop();
    characters -= last?.message.length ?? 0;
    nextOffset = last?.offset ?? nextOffset;
    isBehind = true;
  }
  return { lines, characters, nextOffset, isBehind };
}

/** Whether lines before the first exist. */
export function hasEarlier({ lines }: LogWindow): boolean {
  return (lines[0]?.offset ?? 0) > 0;
}

function endOf({ offset, dropped }: LogLine): number {
  return offset + Math.max(1, dropped ?? 1);
}

function charactersOf(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { message }) => sum + message.length, 0);
}
