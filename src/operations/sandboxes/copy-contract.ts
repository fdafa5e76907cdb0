import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";
import { sandboxId } from "./sandbox-id-schema.ts";

const maxSize: z.ZodOptional<z.ZodNumber> = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Bytes of all files together that are copied at most; default 1 GiB.");

const maxEntries: z.ZodOptional<z.ZodNumber> = z
  .number()
  .int()
  .positive()
  .optional()
  .describe("Files, folders and links at most; default 100,000.");

/** The limits of a copy, as in requests. */
export const copyLimitFields: { readonly max_bytes: typeof maxSize; readonly max_entries: typeof maxEntries } = {
  max_bytes: maxSize,
  max_entries: maxEntries,
};

/** Request of `copy_into_sandbox`. */
const copyInRequestSchema = z.strictObject({
  source: z.string().describe("File or folder of this machine, absolute or relative to the working directory."),
  sandbox_id: sandboxId,
  target: z.string().describe("Absolute path inside: a folder that exists gets the source in it, else its new name."),
  ...copyLimitFields,
});

/** Request of `copy_out_of_sandbox`. */
const copyOutRequestSchema = z.strictObject({
  sandbox_id: sandboxId,
  source: z.string().describe("Absolute path of a file or folder inside."),
  target: z.string().describe("Path on this machine: a folder that exists gets the source in it, else its new name."),
  ...copyLimitFields,
});

/** Response of every copy. */
export const copyResponseSchema: z.ZodObject<{
  sandbox_id: z.ZodString;
  entries: z.ZodNumber;
  bytes: z.ZodNumber;
  warnings: z.ZodArray<z.ZodString>;
}> = z.object({
  sandbox_id: z.string(),
  entries: z.number().describe("Files, folders and links that were copied."),
  bytes: z.number(),
  warnings: z.array(z.string()).describe("What was left out and why."),
});

/** Copies a file or folder of this machine into a live sandbox. */
export const copyIntoSandboxContract = defineOperation({
  name: "copy_into_sandbox",
  audience: "local",
  description: "Copies a file or folder of this machine into a live sandbox of this user, whichever process has it.",
  request: copyInRequestSchema,
  response: copyResponseSchema,
  routes: [],
});

/** Copies a file or folder of a live sandbox to this machine. */
export const copyOutOfSandboxContract = defineOperation({
  name: "copy_out_of_sandbox",
  audience: "local",
  description: "Copies a file or folder out of a live sandbox of this user onto this machine, and writes nowhere else.",
  request: copyOutRequestSchema,
  response: copyResponseSchema,
  routes: [],
});

export type CopyResponse = z.output<typeof copyResponseSchema>;
