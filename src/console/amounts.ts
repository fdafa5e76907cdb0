const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** Bytes for people: `1.2 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(value) : round(value)} ${units[unit] ?? "B"}`;
}

/** Milliseconds for people: `340 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${round(seconds)} s`;
  const whole = Math.floor(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** How long ago, in one word or two: `now`, `5 min ago`, `3 d ago`. */
export function agoText(timestamp: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(timestamp)) / 1000;
  if (!(seconds >= 10)) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** `1 line`, `1,204 lines`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function round(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}
