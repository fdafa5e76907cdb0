import { z } from "zod";

const maxLabels = 16;
/** Length of a name and a value, including the separator. */
const maxLabelCharacters = 63 + 1 + 256;

/** PostgreSQL cannot store it. */
const noNul = "expected no NUL";
const hasNoNul = (value: string): boolean => !value.includes("\0");

/** The field `labels` of requests that create something. */
export const labelsSchema: z.ZodType<Record<string, string>, Record<string, string>> = z
  .record(
    z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/, "expected 1 to 63 letters, digits and ._/-"),
    z.string().max(256).refine(hasNoNul, noNul),
  )
  .refine((labels) => Object.keys(labels).length <= maxLabels, `expected at most ${maxLabels} labels`)
  .meta({ maxProperties: maxLabels })
  .describe('Your own marks, at most 16, by which lists can be filtered: {"job": "1234"}.');

/** The field `label` of requests that list something. */
export const labelFilterSchema: z.ZodType<string[], string[]> = z
  .array(
    z
      .string()
      .regex(/^[^=]{1,63}=/, "expected KEY=VALUE")
      .max(maxLabelCharacters)
      .refine(hasNoNul, noNul),
  )
  .max(maxLabels)
  .describe("Only what has this label, written KEY=VALUE; several: all of them.");

/** Labels as answers show them; empty for none. */
export const labelsShown: z.ZodType<Record<string, string>> = z.record(z.string(), z.string());

/** Whether something has every label of a filter. */
export function hasLabels(labels: Readonly<Record<string, string>>, filter: readonly string[] = []): boolean {
  return filter.every((each) => {
    const [name, value] = splitLabel(each);
    return Object.hasOwn(labels, name) && labels[name] === value;
  });
}

/** The name and the value of one label of a filter. */
export function splitLabel(label: string): readonly [name: string, value: string] {
  const at = label.indexOf("=");
  return [label.slice(0, at), label.slice(at + 1)];
}
