import { z } from "zod";
import { defineOperation, readingTool } from "./contract/operation-contract.ts";
import { alertSchema } from "./contract/program-schema.ts";
import { logStreams } from "./contract/wire-values.ts";

/** Maximum entries in one answer, and the default. */
const maxEntries = 10_000;
const defaultEntries = 1_000;
/** How long an answer may wait for its first entry, in seconds. */
const maxWaitSeconds = 30;

const logEntrySchema = z.object({
  container_id: z.string().describe("The sandbox."),
  offset: z.number().describe("Counts up in each sandbox, all streams together."),
  timestamp: z.string().describe("RFC 3339."),
  stream: z.enum(logStreams).describe("`system`: what Glovebox says of the sandbox and its runs."),
  message: z.string().describe("One line, without its end."),
  partial: z.boolean().optional().describe("The line was cut at 16 KiB and goes on in the stream's next entry."),
  alert: alertSchema.optional().describe("The alert that this entry tells of, while it is in memory."),
  dropped: z.number().optional().describe("This entry stands for so many that are missing, from its offset on."),
});

/** Request of `read_logs`. */
const readLogsRequestSchema = z.strictObject({
  id: z.string().min(1).max(128).describe("The sandbox_id of a result, an env_id or, while it lives, a name."),
  stream: z.enum(logStreams).optional().describe("Only this one; default: all."),
  offset: z.number().int().min(0).optional().describe("The first entry that is wanted; default 0."),
  tail: z.number().int().min(1).max(maxEntries).optional().describe("Instead of an offset: the newest so many."),
  limit: z.number().int().min(1).max(maxEntries).optional().describe(`Most entries; default ${defaultEntries}.`),
  wait_seconds: z
    .number()
    .int()
    .min(0)
    .max(maxWaitSeconds)
    .optional()
    .describe("How long to wait for an entry while there is none at the offset and the log goes on; default 0."),
});

const readLogsResponseSchema = z.object({
  container_id: z.string(),
  entries: z.array(logEntrySchema),
  next_offset: z.number().describe("Continue from here."),
  is_over: z.boolean().describe("Whether nothing follows."),
});

export type ReadLogsRequest = z.input<typeof readLogsRequestSchema>;
export type ReadLogsResponse = z.output<typeof readLogsResponseSchema>;

/** The maximum number of entries for a request. */
export function entryLimit(limit: number | undefined): number {
  return limit ?? defaultEntries;
}

/** `read_logs`: the lines of a sandbox, while it lives and after. */
export const readLogsContract = defineOperation({
  name: "read_logs",
  audience: "everyone",
  description:
    "Reads what the programs of a sandbox wrote, line by line, also after their run: what an answer cut. Ask again from next_offset. The newest MiB is kept for a while, all of it where the server stores logs.",
  request: readLogsRequestSchema,
  response: readLogsResponseSchema,
  routes: [{ method: "GET", path: "/api/sandbox/{id}/logs" }],
  tool: {
    title: "Read logs",
    ...readingTool,
    readOn: ({ entries }) => {
      const last = entries.at(-1);
      return last === undefined ? {} : { next_offset: last.offset + Math.max(1, last.dropped ?? 0), is_over: false };
    },
    text: ({ entries, next_offset: next, is_over: isOver }) =>
      [
        ...entries.map(({ offset, stream, message }) => `${offset} ${stream}: ${message}`),
        isOver ? "Nothing follows." : `More: offset ${next}.`,
      ].join("\n"),
  },
});
