import type { VNode } from "preact";
import { useEffect, useMemo, useState, useLayoutEffect, useRef } from "preact/hooks";
import { countText } from "./amounts.ts";
import { Icon } from "./views/icon.tsx";
import { Failure } from "./views/failure.tsx";
import { FollowedLog, hasEarlier, type LogProspect, type LogState, type LogLine } from "./follow-log.ts";
import { UntrustedOutput } from "./untrusted.tsx";

/** Height of each row, in pixels; the style sheet says the same. */
const rowHeight = 20;

/** Characters of a line that are drawn: the rest is counted. */
const maxShown = 4_000;

/** The time of day where the reader is. */
function clockOf(timestamp: string): string {
  const time = new Date(timestamp);
  return `${time.toLocaleTimeString("en-GB")}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

/** One line, on one row, whatever is in it. */
function LogRow({ line }: { readonly line: LogLine }): VNode {
  const { stream, message, timestamp, offset, dropped = 0, partial = false } = line;
  const rest = message.length - maxShown;
  return (
    <div class={`log-row ${dropped > 0 ? "dropped" : stream}`} data-offset={offset}>
      <time dateTime={timestamp}>{clockOf(timestamp)}</time>
      <span class="log-text">
        {dropped > 0 ? (
          `${countText(dropped, "line")} missing here`
        ) : (
          <UntrustedOutput text={message.slice(0, maxShown)} />
        )}
        {rest > 0 && <span class="mark">+{countText(rest, "character")}</span>}
        {partial && <span class="mark">goes on below</span>}
      </span>
    </div>
  );
}

const words: Readonly<Record<LogState["state"], string>> = {
  loading: "Loading",
  waiting: "Waiting for the sandbox",
  missing: "No such log",
  live: "Live",
  broken: "Reconnecting",
  ended: "Complete",
  failed: "Not available",
};

const streams = ["stdout", "stderr", "system"] as const;

/** A log, live: its end is followed until somebody scrolls up. */
export function LogView({ id, prospect }: { readonly id: string; readonly prospect: LogProspect }): VNode {
  const log = useMemo(() => new FollowedLog(id), [id]);
  log.expect(prospect);
  const [isFollowing, setFollowing] = useState(true);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => () => log.close(), [log]);
  const { window, state, failure } = log.state.value;
  const lines = useMemo(
    () => (hidden.size === 0 ? window.lines : window.lines.filter(({ stream }) => !hidden.has(stream))),
    [window, hidden],
  );
  const follow = (wanted: boolean): void => {
    setFollowing(wanted);
    log.follow(wanted);
    if (wanted) void log.loadNewest();
  };
  const toggle = (stream: string): void =>
    setHidden((before) => {
      const after = new Set(before);
      if (!after.delete(stream)) after.add(stream);
      return after;
    });
  return (
    <div class="log">
      <div class="log-bar">
        <span class={`log-state ${state}`} role="status">
          <span class="dot" aria-hidden="true" />
          {words[state]}
        </span>
        <span class="log-count">{countText(window.nextOffset, "line")}</span>
        <span class="streams" role="group" aria-label="Streams">
          {streams.map((stream) => (
            <button
              key={stream}
              type="button"
              class={`chip ${stream}`}
              aria-pressed={!hidden.has(stream)}
              onClick={() => toggle(stream)}
            >
              {stream}
            </button>
          ))}
        </span>
        <button
          type="button"
          class="chip follow"
          data-key="follow"
          aria-pressed={isFollowing}
          onClick={() => follow(!isFollowing)}
        >
          <Icon name="down" />
          Follow
        </button>
      </div>
      {(state === "failed" || state === "missing") && <Failure failure={failure} />}
      <LogLines
        lines={lines}
        isFollowing={isFollowing}
        onFollow={follow}
        onEarlier={hasEarlier(window) ? () => log.loadEarlier() : undefined}
      />
      {!isFollowing && state === "live" && (
        <button type="button" class="newest" onClick={() => follow(true)}>
          <Icon name="down" />
          Newest lines
        </button>
      )}
    </div>
  );
}

interface LogLinesProps {
  readonly lines: readonly LogLine[];
  readonly isFollowing: boolean;
  readonly onFollow: (isFollowing: boolean) => void;
  /** Fetches lines before the first, and resolves to their number; undefined: there are none. */
  readonly onEarlier: (() => Promise<number>) | undefined;
}

/** This close to the end counts as at the end, in pixels. */
const nearEnd = 2 * rowHeight;
/** This close to the beginning, earlier lines are fetched. */
const nearBegin = 30 * rowHeight;

/** Lines of one height, of which only those that can be seen are in the page. */
function LogLines({ lines, isFollowing, onFollow, onEarlier }: LogLinesProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ scrollTop: 0, height: 600 });
  const anchor = useRef<{ readonly offset: number; readonly top: number } | null>(null);
  const firstOffset = lines[0]?.offset;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const resized = new ResizeObserver(() => setView({ scrollTop: element.scrollTop, height: element.clientHeight }));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);

  // The visible lines stay in place, whatever is added or removed above them.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const { offset, top } = anchor.current ?? { offset: -1, top: 0 };
    const index = isFollowing ? -1 : lines.findIndex((line) => line.offset === offset);
    if (isFollowing) element.scrollTop = element.scrollHeight;
    else if (index > 0 || (index === 0 && element.scrollTop > 0)) element.scrollTop = index * rowHeight + top;
  }, [lines, isFollowing, firstOffset]);

  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollTop, clientHeight, scrollHeight } = element;
    const index = Math.floor(scrollTop / rowHeight);
    anchor.current = { offset: lines[index]?.offset ?? -1, top: scrollTop - index * rowHeight };
    const wasAbove = scrollTop < view.scrollTop;
    setView({ scrollTop, height: clientHeight });
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - nearEnd;
    if (isFollowing && wasAbove && !isAtEnd) onFollow(false);
    if (scrollTop < nearBegin && !isFollowing) void onEarlier?.();
  };

  const { first, end } = visibleRows(lines.length, { ...view, rowHeight });
  return (
    <div ref={box} class="log-lines" role="log" aria-label="Log" aria-live="off" tabIndex={0} onScroll={onScroll}>
      <div class="log-space" style={{ height: `${lines.length * rowHeight}px` }}>
        <div class="log-rows" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {lines.slice(first, end).map((line) => (
            <LogRow key={line.offset} line={line} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Which rows of a long list are drawn. */
interface VisibleRows {
  readonly first: number;
  /** Behind the last. */
  readonly end: number;
}

/** Rows above and below what is seen, so that nothing is blank while it moves. */
const margin = 20;

/** The rows that can be seen in a list whose rows have one height, in pixels. */
function visibleRows(
  count: number,
  { scrollTop, height, rowHeight }: { readonly scrollTop: number; readonly height: number; readonly rowHeight: number },
): VisibleRows {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight) - margin));
  return { first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + margin) };
}
