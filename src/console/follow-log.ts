import { signal, type ReadonlySignal } from "@preact/signals";
import type { ReadLogsResponse } from "../operations/logs-contract.ts";
import { ApiFailure, ask, sandboxPath, pause } from "./ask.ts";

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
interface LogWindow {
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

interface LogSocketOptions {
  /** The first line that is wanted. */
  readonly offset: number;
  readonly signal: AbortSignal;
  /** Lines that came within a moment, in their order. */
  readonly onLines: (lines: readonly LogLine[]) => void;
}

/** How often lines are handed on together: a flood is drawn a few times a second. */
const gatherMs = 80;
/** The log's end, in WebSocket's codes. */
const normalEnd = 1000;

export interface LogState {
  readonly window: LogWindow;
  /** `waiting`: there is no log yet; `missing`: nor will be; `broken`: it is requested again automatically. */
  readonly state: "loading" | "waiting" | "missing" | "live" | "broken" | "ended" | "failed";
  readonly failure: ApiFailure | null;
}

/**
 * Whether a sandbox that has no log may get one: `yes` before and while it runs, `no` if the server does not know it, or
 * it has ended; `unknown` until the server has answered.
 */
export type LogProspect = "unknown" | "yes" | "no";

/** Lines that a log starts with, and that are fetched at a time when scrolling up. */
const pageLines = 1_000;
const retry = { firstMs: 500, longestMs: 10_000 } as const;

/** One log: its newest lines, and what comes. */
export class FollowedLog {
  readonly #id: string;
  readonly #stop = new AbortController();
  readonly #state = signal<LogState>({ window: emptyWindow, state: "loading", failure: null });
  #isFollowing = true;
  #isLoading = false;
  #prospect: LogProspect = "unknown";

  constructor(id: string) {
    this.#id = id;
    void this.#run();
  }

  get state(): ReadonlySignal<LogState> {
    return this.#state;
  }

  close(): void {
    this.#stop.abort();
  }

  /** Whether new lines push old ones out; without, a full window stays as it is. */
  follow(isFollowing: boolean): void {
    this.#isFollowing = isFollowing;
  }

  /** What the server says of the sandbox, while there is no log. */
  expect(prospect: LogProspect): void {
    this.#prospect = prospect;
  }

  /** Fetches the lines before the window. Resolves to the number of lines that came. */
  async loadEarlier(): Promise<number> {
    const before = this.#state.value.window.lines[0]?.offset ?? 0;
    if (before === 0 || this.#isLoading) return 0;
    this.#isLoading = true;
    try {
      const offset = Math.max(0, before - pageLines);
      const { entries } = await this.#read({ offset, limit: before - offset });
      this.#set({ window: prepended(this.#state.value.window, entries) });
      return entries.length;
    } catch {
      // Whoever scrolls on asks again.
      return 0;
    } finally {
      this.#isLoading = false;
    }
  }

  /** Shows the newest lines again. */
  async loadNewest(): Promise<void> {
    this.#isFollowing = true;
    if (!this.#state.value.window.isBehind) return;
    const { entries, next_offset: nextOffset } = await this.#read({ tail: pageLines });
    this.#set({ window: { ...appended(emptyWindow, entries), nextOffset } });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let waitMs: number = retry.firstMs;
    let isKnown = false;
    while (!signal.aborted) {
      try {
        if (!isKnown) {
          const page = await this.#read({ tail: pageLines });
          isKnown = true;
          this.#set({
            window: { ...appended(emptyWindow, page.entries), nextOffset: page.next_offset },
            state: page.is_over ? "ended" : "live",
            failure: null,
          });
          if (page.is_over) return;
        }
        this.#set({ state: "live", failure: null });
        const { nextOffset } = this.#state.value.window;
        const onLines = (lines: readonly LogLine[]): void => {
          waitMs = retry.firstMs;
          this.#take(lines);
        };
        const end = await openLogSocket(this.#id, { offset: nextOffset, signal, onLines });
        if (end === "over") return this.#set({ state: "ended" });
        this.#set({ state: "broken" });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ApiFailure)) throw error;
        // There is no log before the sandbox exists.
        const isMissing = error.status === 404 && !isKnown;
        const state = isMissing ? this.#withoutLog() : isPassing(error) ? "broken" : "failed";
        this.#set({ state, failure: error });
        if (state === "failed" || state === "missing") return;
      }
      await pause(waitMs, signal);
      waitMs = Math.min(retry.longestMs, waitMs * 2);
    }
  }

  #withoutLog(): LogState["state"] {
    return ({ unknown: "loading", yes: "waiting", no: "missing" } as const)[this.#prospect];
  }

  #take(lines: readonly LogLine[]): void {
    const { window } = this.#state.value;
    if (window.isBehind) return;
    const isFull = window.lines.length + lines.length > windowBounds.lines;
    if (isFull && !this.#isFollowing) this.#set({ window: { ...window, isBehind: true } });
    else this.#set({ window: appended(window, lines) });
  }

  #read(query: {
    readonly tail?: number;
    readonly offset?: number;
    readonly limit?: number;
  }): Promise<ReadLogsResponse> {
    return ask("GET", sandboxPath(this.#id, "/logs"), { query, signal: this.#stop.signal });
  }

  #set(change: Partial<LogState>): void {
    if (!this.#stop.signal.aborted) this.#state.value = { ...this.#state.value, ...change };
  }
}

/** No connection, or too many requests. */
function isPassing({ status }: ApiFailure): boolean {
  return status === 0 || status === 429;
}

function endOf({ offset, dropped }: LogLine): number {
  return offset + Math.max(1, dropped ?? 1);
}

function charactersOf(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { message }) => sum + message.length, 0);
}

/**
 * Follows a log over a WebSocket, which a ticket opens: the token itself never stands in an address. Resolves to `over`
 * at the log's end, to `broken` when the connection ends before.
 * @throws ApiFailure
 */
async function openLogSocket(id: string, { offset, signal, onLines }: LogSocketOptions): Promise<"over" | "broken"> {
  const { ticket } = await ask<{ readonly ticket: string }>("POST", "/api/tickets", { signal });
  const address = new URL(
    `${sandboxPath(id, "/logs")}?${new URLSearchParams({ offset: String(offset), ticket })}`,
    location.href,
  );
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address);
  const end = Promise.withResolvers<"over" | "broken">();
  let gathered: LogLine[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const handOn = (): void => {
    timer = undefined;
    const lines = gathered;
    gathered = [];
    if (!signal.aborted && lines.length > 0) onLines(lines);
  };
  socket.addEventListener("message", ({ data }) => {
    gathered.push(JSON.parse(String(data)) as LogLine);
    timer ??= setTimeout(handOn, gatherMs);
  });
  socket.addEventListener("close", ({ code }) => {
    clearTimeout(timer);
    handOn();
    end.resolve(code === normalEnd ? "over" : "broken");
  });
  signal.addEventListener("abort", () => socket.close(), { once: true });
  if (signal.aborted) socket.close();
  return end.promise;
}
