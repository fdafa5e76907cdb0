import { z } from "zod";
import { processSignals } from "./wire-values.ts";

/** The error that goes with an outcome (SPEC ER1). */
export const wireErrorSchema: z.ZodType<{
  error_type: string;
  message: string;
  suggestion: string;
  context: Record<string, unknown>;
}> = z.object({
  error_type: z.string(),
  message: z.string(),
  suggestion: z.string().describe("What to do about it."),
  context: z.record(z.string(), z.unknown()),
});

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

/**
 * The messages on the WebSocket of an operation's `channel`. Text messages are JSON: the client's, of which `start` is
 * the first, and the server's events, of which `result` or `error` is the last. Binary messages are input, or output
 * prefixed with its stream's number. Each end sends at most as many bytes of those as the other has granted.
 */
export const clientMessageSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("start"),
    request: z.record(z.string(), z.unknown()).describe("The operation's request, but for what the path says."),
  }),
  z.strictObject({ type: z.literal("input_end") }),
  z.strictObject({ type: z.literal("resize"), columns: z.number(), rows: z.number() }),
  z.strictObject({ type: z.literal("signal"), signal: z.enum([...processSignals, "SIGKILL"]) }),
  z.strictObject({ type: z.literal("credit"), bytes: z.int().positive().describe("Of output, beyond those granted.") }),
  z.strictObject({ type: z.literal("cancel") }),
]);

/** The server's messages: the events of streams, and those that only a channel has. */
export const liveEventSchema = z.union([
  wireEventSchema,
  z.object({ event: z.literal("terminal") }),
  z.object({ event: z.literal("credit"), bytes: z.int().positive().describe("Of input, beyond those granted.") }),
]);

/** Bytes that either end may send before the other grants more. */
export const firstLiveCredit = 262_144;
/** Bytes of input or output in one message. */
export const maxLiveBytes = 65_536;
/** The smallest grant, so that there are few of them. */
export const liveCreditPortion = 65_536;
/** The first byte of a message of output. */
export const liveStreams = { stdout: 1, stderr: 2 } as const;

export type ClientMessage = z.output<typeof clientMessageSchema>;
export type LiveEvent = z.output<typeof liveEventSchema>;
