import { z } from "zod";
import { wireErrorSchema } from "./wire-error-schema.ts";

/**
 * The events of a running call, as servers send and clients read them (SPEC EX3): one JSON object each, a line of
 * `application/x-ndjson` or the data of a server-sent event. The first is `sandbox`, the last `result` or `error`.
 */
export const wireEventSchema = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("sandbox"),
    sandbox_id: z.string(),
    name: z.string().optional().describe("What its caller named it."),
  }),
  z.object({
    event: z.literal("output"),
    stream: z.enum(["stdout", "stderr"]),
    text: z.string().optional().describe("The bytes as UTF-8; characters are never split."),
    base64: z.string().optional().describe("Instead of `text`: bytes that are not UTF-8."),
  }),
  z.object({
    event: z.literal("denied"),
    target: z.string(),
    rule: z.string(),
    reason: z.string(),
    remedy: z.string(),
  }),
  z.object({ event: z.literal("progress"), message: z.string(), fraction: z.number().nullable() }),
  z.object({ event: z.literal("warning"), message: z.string() }),
  z.object({ event: z.literal("result"), result: z.unknown().describe("The operation's response.") }),
  z.object({ event: z.literal("error"), error: wireErrorSchema }),
]);

export type WireEvent = z.output<typeof wireEventSchema>;
