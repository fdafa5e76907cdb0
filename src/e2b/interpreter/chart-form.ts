import { z } from "zod";

const maxCharts = 500;
const maxElements = 20_000;

/** Node has it; the types of JavaScript's latest edition do not yet. */
const exactJson = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown };

const label = z.string();
const shownText = label.nullable();
/** A place on an axis, or a number that JSON has none for. */
const value = z.union([z.number(), label, z.boolean(), z.null()]);
/** The same of points and ticks, whose numbers are floats: SDKs in Python tell `1.0` from `1`, which is all that a number is here. */
const float = value.transform((each) => (isWrittenWhole(each) ? exactJson.rawJSON(`${String(each)}.0`) : each));
const number = z.number().nullable();
const title = { title: shownText };
const axes = { x_label: shownText, x_unit: shownText, y_label: shownText, y_unit: shownText };
const series = z.strictObject({ label, points: z.array(z.tuple([float, float])) });
const scales = {
  ...{ x_ticks: z.array(float), x_tick_labels: z.array(label), x_scale: label },
  ...{ y_ticks: z.array(float), y_tick_labels: z.array(label), y_scale: label },
};
const lines = { ...title, ...axes, ...scales, elements: z.array(series) };
const box = z.strictObject({
  ...{ label, min: number, first_quartile: number, median: number, third_quartile: number, max: number },
  outliers: z.array(number),
});

/** Of one part of a figure. */
const chart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("line"), ...lines }),
  z.strictObject({ type: z.literal("scatter"), ...lines }),
  z.strictObject({
    ...{ type: z.literal("bar"), ...title, ...axes },
    elements: z.array(z.strictObject({ label, group: label, value })).max(maxElements),
  }),
  z.strictObject({
    ...{ type: z.literal("pie"), ...title },
    elements: z.array(z.strictObject({ label, angle: number, radius: number })).max(maxElements),
  }),
  z.strictObject({ type: z.literal("box_and_whisker"), ...title, ...axes, elements: z.array(box).max(maxElements) }),
  z.strictObject({ type: z.literal("unknown"), ...title, elements: z.tuple([]) }),
]);

/** A chart in E2B's form, which its SDKs read without looking: a program may say anything else in its place. */
export const chartForm = z.union([
  chart,
  z.strictObject({ type: z.literal("superchart"), ...title, elements: z.array(chart).max(maxCharts) }),
]);

/** The columns of a table. */
export const tableForm = z.record(z.string(), z.array(value));

/** Whether a number is written without a fraction and an exponent. */
function isWrittenWhole(each: unknown): boolean {
  return typeof each === "number" && Number.isInteger(each) && Math.abs(each) < 1e21;
}
