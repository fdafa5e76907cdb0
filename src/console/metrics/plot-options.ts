import type uPlot from "uplot";

export interface PlotNeeds {
  /** In pixels. */
  readonly width: number;
  /** Of the lines. */
  readonly names: readonly string[];
  readonly format: (value: number) => string;
  readonly limit: number | undefined;
  /** The value axis reaches at least this far. */
  readonly least: number;
}

const height = 168;
/** Minimum distance between two marks of the value axis, in pixels. */
const markSpace = 30;

/** How one plot looks, in the colours that the page has now. */
export function plotOptions({ width, names, format, limit, least }: PlotNeeds): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--muted"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_plot, _low, high) => rangeOf(high, limit, least) } },
    axes: [
      { ...axis, size: 30, space: 70, values: (_plot, marks) => marks.map(clockOf) },
      { ...axis, size: 62, space: markSpace, values: (_plot, marks) => marks.map((value) => format(value)) },
    ],
    series: [
      {},
      ...names.map((label, index) => ({
        label,
        stroke: colour(`--plot-${index}`),
        width: 1.75,
        ...(index === 0 ? { fill: colour("--plot-fill") } : {}),
        points: { show: false },
        spanGaps: false,
      })),
    ],
  };
}

/** From zero to a little above the highest; to the limit once half of it is reached. */
function rangeOf(high: number | null, limit: number | undefined, least: number): [number, number] {
  const top = Math.max(high ?? 0, least / 1.25);
  if (limit !== undefined && top > limit / 2) return [0, Math.max(limit, top) * 1.05];
  return [0, top * 1.25];
}

function clockOf(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}
