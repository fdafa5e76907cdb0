import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { isDark } from "../theme.ts";
import { plotOptions } from "./plot-options.ts";
import { highest, newest } from "./series.ts";

export interface PlotLine {
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
export function Plot({ title, seconds, lines, format, limit, least }: PlotProps): VNode {
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
