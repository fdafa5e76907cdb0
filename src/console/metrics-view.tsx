import type { VNode } from "preact";
import { useEffect, useMemo, useLayoutEffect, useRef } from "preact/hooks";
import { bytesText } from "./amounts.ts";
import { Empty } from "./views/empty.tsx";
import { Failure } from "./views/failure.tsx";
import uPlot from "uplot";
import { isDark } from "./theme.ts";
import { signal, type ReadonlySignal } from "@preact/signals";
import type { GetMetricsResponse, WireSample } from "../operations/metrics-contract.ts";
import { ask, sandboxPath, poll, type ApiFailure } from "./ask.ts";

const percent = (value: number): string => `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
const megabytes = (value: number): string => bytesText(value * 1_000_000);
const rate = (value: number): string => `${bytesText(value)}/s`;

/** What a sandbox uses, over the last ten minutes. */
export function MetricsView({ id }: { readonly id: string }): VNode {
  const watched = useMemo(() => watchMetrics(id), [id]);
  useEffect(() => watched.stop, [watched]);
  const { answer, failure } = watched.state.value;
  const series = useMemo(() => seriesOf(answer?.samples ?? []), [answer]);
  if (answer === null || answer.samples.length === 0) {
    const isOver = answer?.running === false || failure?.status === 404;
    return (
      <Empty icon="clock" title={isOver ? "No measurements are kept" : "Measuring"}>
        <p>
          {isOver
            ? "There is no such sandbox, or it ended before its first sample or too long ago."
            : "The first sample comes within a second or two."}
        </p>
        {failure !== null && failure.status !== 404 && <Failure failure={failure} />}
      </Empty>
    );
  }
  const { cpus, memory_mb: memoryMb } = answer.limits;
  const { seconds } = series;
  return (
    <div class="metrics">
      <Plot
        title="CPU"
        least={10}
        seconds={seconds}
        lines={[{ name: "CPU", values: series.cpuPercent }]}
        format={percent}
        limit={cpus * 100}
      />
      <Plot
        title="Memory"
        least={10}
        seconds={seconds}
        lines={[{ name: "Memory", values: series.memoryMb }]}
        format={megabytes}
        limit={memoryMb}
      />
      <Plot
        title="Network"
        least={1_000}
        seconds={seconds}
        lines={[
          { name: "In", values: series.networkIn },
          { name: "Out", values: series.networkOut },
        ]}
        format={rate}
      />
      <Plot
        title="Disk"
        least={1_000}
        seconds={seconds}
        lines={[
          { name: "Read", values: series.diskRead },
          { name: "Written", values: series.diskWritten },
        ]}
        format={rate}
      />
    </div>
  );
}

interface PlotLine {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  readonly title: string;
  /** Since the epoch. */
  readonly seconds: readonly number[];
  readonly lines: readonly PlotLine[];
  /** A value for people. */
  readonly format: (value: number) => string;
  /** What the first line may reach; undefined: no limit is shown. */
  readonly limit?: number;
  /** The value axis reaches at least this far. */
  readonly least: number;
}

/** Lines over time, with their newest values in words. */
function Plot({ title, seconds, lines, format, limit, least }: PlotProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const isKnown = lines.some(({ values }) => newest(values) !== null);
  const data = [seconds, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const dark = isDark.value;

  // Its colours are read from the style sheet, so another theme needs another plot.
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null || !isKnown) return undefined;
    const names = lines.map(({ name }) => name);
    const made = new uPlot(plotOptions({ width: element.clientWidth, names, format, limit, least }), data, element);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: made.height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [dark, isKnown]);
  useLayoutEffect(() => plot.current?.setData(data), [seconds, dark]);

  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        {lines.map(({ name, values }, index) => (
          <span key={name} class={`plot-value line-${index}`}>
            {lines.length > 1 && <span class="plot-name">{name}</span>}
            {shown(newest(values), format)}
          </span>
        ))}
        {limit !== undefined && isKnown && <span class="plot-limit">of {format(limit)}</span>}
      </figcaption>
      {isKnown ? (
        <div ref={place} class="plot-place" role="img" aria-label={inWords(title, lines, format)} />
      ) : (
        <p class="plot-unknown">This engine cannot tell.</p>
      )}
    </figure>
  );
}

function inWords(title: string, lines: readonly PlotLine[], format: (value: number) => string): string {
  const parts = lines.map(
    ({ name, values }) => `${name} now ${shown(newest(values), format)}, highest ${shown(highest(values), format)}`,
  );
  return `${title} over time: ${parts.join("; ")}`;
}

function shown(value: number | null, format: (value: number) => string): string {
  return value === null ? "unknown" : format(value);
}

interface PlotNeeds {
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
function plotOptions({ width, names, format, limit, least }: PlotNeeds): uPlot.Options {
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

interface MetricsState {
  /** Null: not known yet. */
  readonly answer: GetMetricsResponse | null;
  readonly failure: ApiFailure | null;
}

/** Ten minutes, second by second. */
const maxSamples = 600;
const eachMs = 2_000;

/** Follows the samples of a sandbox until it has ended or the returned function is called. */
function watchMetrics(id: string): { readonly state: ReadonlySignal<MetricsState>; readonly stop: () => void } {
  const state = signal<MetricsState>({ answer: null, failure: null });
  const work = async (abort: AbortSignal): Promise<boolean> => {
    const known = state.value.answer?.samples ?? [];
    const query = { samples: maxSamples, since: known.at(-1)?.timestamp };
    const answer = await ask<GetMetricsResponse>("GET", sandboxPath(id, "/metrics"), { query, signal: abort });
    const samples = joined(known, answer.samples, maxSamples);
    if (!abort.aborted)
      state.value = { answer: { ...answer, samples: [...samples] as typeof answer.samples }, failure: null };
    return !answer.running;
  };
  const stop = poll(work, {
    eachMs,
    onFailure: (failure) => {
      if (failure !== null) state.value = { ...state.value, failure };
    },
  });
  return { state, stop };
}

/** Values over time, as the plots take them: seconds since the epoch, and one list a line. */
interface Series {
  readonly seconds: readonly number[];
  readonly cpuPercent: readonly (number | null)[];
  readonly memoryMb: readonly (number | null)[];
  /** Bytes a second. */
  readonly networkIn: readonly (number | null)[];
  readonly networkOut: readonly (number | null)[];
  readonly diskRead: readonly (number | null)[];
  readonly diskWritten: readonly (number | null)[];
}

type Counter = "network_rx_bytes" | "network_tx_bytes" | "disk_read_bytes" | "disk_write_bytes";

/** Samples as values over time; counters become rates. */
export function seriesOf(samples: readonly WireSample[]): Series {
  const seconds = samples.map(({ timestamp }) => Date.parse(timestamp) / 1000);
  const rateOf = (counter: Counter): (number | null)[] =>
    samples.map((sample, index) => {
      const before = samples[index - 1]?.[counter] ?? null;
      const now = sample[counter];
      const passed = (seconds[index] ?? 0) - (seconds[index - 1] ?? 0);
      return before === null || now === null || passed <= 0 ? null : Math.max(0, (now - before) / passed);
    });
  return {
    seconds,
    cpuPercent: samples.map((sample) => sample.cpu_percent),
    memoryMb: samples.map((sample) => sample.memory_mb),
    networkIn: rateOf("network_rx_bytes"),
    networkOut: rateOf("network_tx_bytes"),
    diskRead: rateOf("disk_read_bytes"),
    diskWritten: rateOf("disk_write_bytes"),
  };
}

/** The known samples and the newer ones, without duplicates; at most the newest of them. */
export function joined(known: readonly WireSample[], fresh: readonly WireSample[], max: number): readonly WireSample[] {
  const last = known.at(-1)?.timestamp ?? "";
  return [...known, ...fresh.filter(({ timestamp }) => timestamp > last)].slice(-max);
}

/** The newest value that is known. */
export function newest(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

/** The highest value; null where none is known. */
export function highest(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((max, value) => (value === null || (max ?? value) > value ? max : value), null);
}
