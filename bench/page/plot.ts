import { figure } from "../parts/print.ts";
import type { Measured, Row } from "../parts/report.ts";

const width = 860;
const margin = 16;
const fontSize = 12;
const titleHeight = 40;

/** With a wider range of values, short bars would become invisible: the scale is then logarithmic. */
const maxLinearRange = 30;

const style = `<style>
    text { font: ${fontSize}px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
    .title { font-weight: 600; font-size: 14px }
    .quiet { fill: #57606a }
    .own { fill: #0969da } .base { fill: #afb8c1 }
    .line { fill: none; stroke-width: 2 } .axis { stroke: #d0d7de; stroke-width: 1 }
    .s0 { stroke: #0969da } .s1 { stroke: #bc4c00 } .s2 { stroke: #1a7f37 } .s3 { stroke: #8250df } .s4 { stroke: #57606a }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .quiet { fill: #9198a1 }
      .own { fill: #4493f8 } .base { fill: #656c76 } .axis { stroke: #3d444d }
      .s0 { stroke: #4493f8 } .s1 { stroke: #f0883e } .s2 { stroke: #3fb950 } .s3 { stroke: #ab7df8 } .s4 { stroke: #9198a1 }
    }
  </style>`;

/** A measure as a picture that is legible on light and dark pages; null when there is nothing to draw. */
export function plotOf(measured: Measured): string | null {
  const points = measured.rows.filter(({ values }) => typeof values[measured.plot.value] === "number");
  if (points.length === 0) return null;
  return measured.plot.kind === "bars" ? bars(measured, points) : lines(measured, points);
}

function bars({ title, plot, columns }: Measured, rows: readonly Row[]): string {
  const rowHeight = 20;
  const labelWidth = 8 + Math.max(...rows.map(({ name }) => name.length)) * fontSize * 0.55;
  const figureWidth = 60;
  const column = columns.find(({ key }) => key === plot.value) ?? {};
  const scale = scaleOf(
    rows.map((row) => valueOf(row, plot.value)),
    width - 2 * margin - labelWidth - figureWidth,
  );
  const drawn = rows.map((row, index) => {
    const y = titleHeight + index * rowHeight;
    const value = valueOf(row, plot.value);
    const length = Math.max(1, scale.of(value));
    const x = margin + labelWidth;
    return [
      text(x - 8, y + 14, row.name, 'text-anchor="end"'),
      `<rect x="${px(x)}" y="${y + 3}" width="${px(length)}" height="${rowHeight - 6}" rx="2" class="${row.isBaseline === true ? "base" : "own"}"/>`,
      text(x + length + 6, y + 14, figure(value, column), 'class="quiet"'),
    ].join("\n  ");
  });
  const heading = `${title} (${plot.unit}${scale.isLogarithmic ? ", logarithmic scale" : ""})`;
  return picture(titleHeight + rows.length * rowHeight + margin, heading, drawn);
}

function lines({ title, plot, columns }: Measured, rows: readonly Row[]): string {
  if (plot.kind !== "lines") throw new TypeError("Not a plot of lines.");
  const height = 300;
  const labelWidth = 190;
  const bottom = height - 36;
  const named = Map.groupBy(rows, ({ series, name }) => series ?? name);
  const logX = (row: Row): number => Math.log10(valueOf(row, plot.x));
  const [minX, maxX] = [Math.min(...rows.map(logX)), Math.max(...rows.map(logX))];
  const scale = scaleOf(
    rows.map((row) => valueOf(row, plot.value)),
    bottom - titleHeight,
  );
  const left = margin + 8;
  const x = (row: Row): number =>
    left + ((logX(row) - minX) / (maxX - minX || 1)) * (width - left - labelWidth - margin);
  const y = (row: Row): number => bottom - scale.of(valueOf(row, plot.value));
  const column = columns.find(({ key }) => key === plot.value) ?? {};
  const ticks = new Map(rows.map((row) => [valueOf(row, plot.x), x(row)]));
  const drawn = [
    `<line x1="${left}" y1="${bottom}" x2="${width - labelWidth - margin}" y2="${bottom}" class="axis"/>`,
    ...[...ticks].map(([value, at]) => text(at, bottom + 16, String(value), 'text-anchor="middle" class="quiet"')),
    text(left, bottom + 32, columns.find(({ key }) => key === plot.x)?.title ?? plot.x, 'class="quiet"'),
    ...[...named].flatMap(([name, points], index) => {
      const last = points.at(-1);
      return [
        `<polyline points="${points.map((row) => `${px(x(row))},${px(y(row))}`).join(" ")}" class="line s${index % 5}"/>`,
        ...points.map((row) => text(x(row), y(row) - 6, figure(valueOf(row, plot.value), column), 'class="quiet"')),
        ...(last === undefined ? [] : [text(x(last) + 34, y(last) + 4, name, "")]),
      ];
    }),
  ];
  return picture(height, `${title} (${plot.unit}${scale.isLogarithmic ? ", logarithmic scale" : ""})`, drawn);
}

interface Scale {
  readonly of: (value: number) => number;
  readonly isLogarithmic: boolean;
}

/** Maps the values to lengths up to `length`. */
function scaleOf(values: readonly number[], length: number): Scale {
  const max = Math.max(...values);
  const least = Math.min(...values.filter((value) => value > 0));
  if (!(max / least > maxLinearRange)) return { of: (value) => (value / (max || 1)) * length, isLogarithmic: false };
  // The shortest bar stays visible.
  const floor = Math.log10(least) - 0.2;
  const span = Math.log10(max) - floor;
  return { of: (value) => (value > 0 ? ((Math.log10(value) - floor) / span) * length : 0), isLogarithmic: true };
}

function valueOf({ values }: Row, key: string): number {
  return values[key] ?? 0;
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${px(x)}" y="${px(y)}"${attributes === "" ? "" : ` ${attributes}`}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function picture(height: number, heading: string, drawn: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `  <title>${escaped(heading)}</title>`,
    `  ${style}`,
    `  ${text(margin, 22, heading, 'class="title"')}`,
    ...drawn.map((part) => `  ${part}`),
    "</svg>",
    "",
  ].join("\n");
}
