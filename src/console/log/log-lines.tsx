import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { LogRow, rowHeight } from "./log-row.tsx";
import type { LogLine } from "./log-window.ts";
import { visibleRows } from "./visible-rows.ts";

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
export function LogLines({ lines, isFollowing, onFollow, onEarlier }: LogLinesProps): VNode {
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
