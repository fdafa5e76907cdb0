import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";
import { about, place } from "../contract/place-schema.ts";
import { warningLines } from "../contract/program-text.ts";
import { processSignals } from "../contract/wire-values.ts";
import { toolingLines } from "../environments/tooling-schema.ts";
import { portLine, processId, processSchema, stateLine } from "./process-schema.ts";

const plain = {
  readOnly: false,
  destructive: false,
  idempotent: false,
  openWorld: false,
  mayTakeLong: false,
} as const;

const part = z.object({
  offset: z
    .number()
    .describe("Where the text starts in the stream, in bytes; higher than requested if older output was dropped."),
  text: z.string(),
  next_offset: z.number().describe("Continue from here."),
  total_bytes: z.number().describe("Bytes the stream has had so far."),
  is_over: z.boolean().describe("Whether nothing follows."),
});

/** Request of `list_processes`. */
const listProcessesRequestSchema = z.strictObject({
  ...place,
  process_id: processId.optional().describe("Tells of this process only, and shows its output."),
  stdout_offset: z.number().int().min(0).optional().describe("With process_id: where to read stdout from; default 0."),
  stderr_offset: z.number().int().min(0).optional().describe("With process_id: where to read stderr from; default 0."),
  max_bytes: z
    .number()
    .int()
    .min(16)
    .max(262_144)
    .optional()
    .describe("With process_id: most bytes of each stream; default 65536."),
});

const listProcessesResponseSchema = z.object({
  ...about,
  processes: z.array(processSchema.extend({ stdout: part.optional(), stderr: part.optional() })),
});

/** `list_processes`: the background processes of an environment or a session, and the output of one. */
export const listProcessesContract = defineOperation({
  name: "list_processes",
  audience: "everyone",
  description:
    "Lists the background processes of an environment (env_id) or a session, with the URLs of their ports. With process_id it shows that one's output from stdout_offset and stderr_offset on: ask again from next_offset for what is new. The newest 256 KiB of each stream are kept.",
  request: listProcessesRequestSchema,
  response: listProcessesResponseSchema,
  routes: [
    { method: "GET", path: "/api/sessions/{session_id}/processes" },
    { method: "GET", path: "/api/environments/{env_id}/processes" },
    { method: "GET", path: "/api/sessions/{session_id}/processes/{process_id}" },
    { method: "GET", path: "/api/environments/{env_id}/processes/{process_id}" },
  ],
  tool: {
    ...plain,
    title: "List background processes",
    readOnly: true,
    idempotent: true,
    text: ({ processes }) =>
      processes.length === 0 ? "There are no background processes." : processes.flatMap(lines).join("\n"),
  },
});

/** Request of `write_stdin`. */
const writeStdinRequestSchema = z.strictObject({
  ...place,
  process_id: processId,
  text: z.string().max(1_048_576).optional().describe("Written as it is, at most 1 MiB; end lines with \\n."),
  close: z.boolean().optional().describe("Ends the process's standard input after the text; default false."),
});

const writeStdinResponseSchema = z.object({
  ...about,
  process_id: z.string(),
  written_bytes: z.number(),
  closed: z.boolean(),
});

/** `write_stdin`: input for a background process. */
export const writeStdinContract = defineOperation({
  name: "write_stdin",
  audience: "everyone",
  description: "Writes text to the standard input of a background process, and ends that input when asked.",
  request: writeStdinRequestSchema,
  response: writeStdinResponseSchema,
  carriesContent: true,
  routes: [
    { method: "POST", path: "/api/sessions/{session_id}/processes/{process_id}" },
    { method: "POST", path: "/api/environments/{env_id}/processes/{process_id}" },
  ],
  tool: {
    ...plain,
    title: "Write to a process",
    text: ({ process_id: id, written_bytes: bytes, closed }) =>
      `Wrote ${bytes} bytes to ${id}${closed ? " and ended its input" : ""}.`,
  },
});

/** Request of `stop_process`. */
const stopProcessRequestSchema = z.strictObject({
  ...place,
  process_id: processId,
  signal: z
    .enum([...processSignals, "SIGKILL"])
    .optional()
    .describe(
      "Sends only this signal, to the process itself, which may then continue (SIGHUP, SIGUSR1). SIGKILL kills it at once with everything it started. Default: stops it gracefully.",
    ),
});

const stopProcessResponseSchema = processSchema.extend({ ...about, warnings: z.array(z.string()) });

/** `stop_process`: ends a background process, or sends it a signal. */
export const stopProcessContract = defineOperation({
  name: "stop_process",
  audience: "everyone",
  description:
    "Stops a background process with everything it started: SIGTERM, and SIGKILL 750 ms later. Its output stays readable. With `signal` it only sends that signal to the process, which may continue.",
  request: stopProcessRequestSchema,
  response: stopProcessResponseSchema,
  routes: [
    { method: "DELETE", path: "/api/sessions/{session_id}/processes/{process_id}" },
    { method: "DELETE", path: "/api/environments/{env_id}/processes/{process_id}" },
  ],
  tool: {
    ...plain,
    title: "Stop or signal a process",
    destructive: true,
    text: (response) =>
      [
        stateLine(response),
        ...toolingLines(response.tooling_files),
        ...warningLines([...(response.tooling_unseen ?? []), ...response.warnings]),
      ].join("\n"),
  },
});

export type ListProcessesResponse = z.output<typeof listProcessesResponseSchema>;

function lines(process: ListProcessesResponse["processes"][number]): readonly string[] {
  const { stdout, stderr } = process;
  return [
    stateLine(process),
    ...process.ports.map(portLine),
    ...toolingLines(process.tooling_files),
    ...warningLines(process.tooling_unseen ?? []),
    ...(["stdout", "stderr"] as const).flatMap((name) => {
      const part = name === "stdout" ? stdout : stderr;
      return part === undefined || part.text === ""
        ? []
        : [`${name} from byte ${part.offset} to ${part.next_offset}:`, part.text.replace(/\n$/, "")];
    }),
  ];
}
