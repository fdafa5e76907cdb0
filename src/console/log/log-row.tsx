import type { VNode } from "preact";
import { countText } from "../text/amounts.ts";
import { UntrustedOutput } from "../text/untrusted.tsx";
import type { LogLine } from "./log-window.ts";

/** Height of each row, in pixels; the style sheet says the same. */
export const rowHeight = 20;

/** Characters of a line that are drawn: the rest is counted. */
const maxShown = 4_000;

/** The time of day where the reader is. */
function clockOf(timestamp: string): string {
  const time = new Date(timestamp);
  return `${time.toLocaleTimeString("en-GB")}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

/** One line, on one row, whatever is in it. */
export function LogRow({ line }: { readonly line: LogLine }): VNode {
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
