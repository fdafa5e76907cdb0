import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { countText } from "../text/amounts.ts";
import { Icon } from "../views/icon.tsx";
import { Failure } from "../views/runs/failure.tsx";
import { FollowedLog, type LogProspect, type LogState } from "./follow-log.ts";
import { LogLines } from "./log-lines.tsx";
import { hasEarlier } from "./log-window.ts";

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
