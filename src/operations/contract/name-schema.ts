import { z } from "zod";

const form = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** A server-made id: a short word, a dash and 20 characters of its alphabet. */
const idForm = /^[a-z]{2,5}-[0-9a-hjkmnp-tv-z]{20}$/;

/** Whether a text may be a name: nothing that a terminal, a shell or a list would mistake for something else. */
function isName(text: string): boolean {
  return form.test(text) && !text.includes("..") && !idForm.test(text);
}

const expected =
  "expected 1 to 64 letters, digits, hyphens, underscores and dots that begin with a letter or digit, not in the form of an id";

/** A text that names something. */
export const nameText: z.ZodString = z.string().refine(isName, expected);

/** The field `name` of requests that start something (SPEC RT10). */
export const nameSchema: z.ZodOptional<z.ZodString> = nameText
  .optional()
  .describe(
    "Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique.",
  );

/** A name as lists show it. */
export const nameShown: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("What its caller named it; null: nothing.");

/** What runs, as lists show it. */
export const workShown: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("What runs in it, or ran last: the language or the command, and its first words; null: nothing yet.");
