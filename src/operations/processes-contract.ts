import { z } from "zod";
import { toolingFilesSchema, toolingLines, warningLines } from "./contract/program-schema.ts";
import { maxEnvironmentEntries, processSignals } from "./contract/wire-values.ts";
import {
  listOf,
  textsByName,
  commandSchema,
  aboutPlace,
  placeOrNewSession,
  runSettings,
  place,
} from "./contract/request-schemas.ts";
import { defineOperation, readingTool, quietTool, placeRoutes } from "./contract/operation-contract.ts";

/** The field `process_id` of requests about one process. */
const processId = z.string().describe("The process's id, as start_process gave it.");

/** One background process. */
const processSchema = z.object({
  process_id: z.string(),
  command: z.array(z.string()),
  state: z.enum(["running", "exited", "lost"]).describe("lost: its container was lost."),
  exit_code: z.number().nullable().describe("128 + N if killed by signal N; null while it runs and when it was lost."),
  started_at: z.string(),
  ports: z
    .array(z.object({ port: z.number(), url: z.string() }))
    .describe("Its ports, each with where it is reached on the server's machine while the process runs."),
  tooling_files: toolingFilesSchema
    .optional()
    .describe(
      "In an environment: files that tools of the project's owner run by themselves and that have changed since the process was started; of many in one folder the folder; at most 100.",
    ),
  tooling_unseen: z
    .array(z.string())
    .optional()
    .describe("Why not all of these files could be compared, and what to do; missing: all were."),
});

export type ProcessRow = z.output<typeof processSchema>;

/** Its state, in a line. */
function stateLine({ process_id: id, command, state, exit_code: exitCode }: ProcessRow): string {
  const exit = exitCode === null ? "" : ` with exit code ${exitCode}`;
  return `${id} (${command.join(" ").slice(0, 80)}): ${state}${exit}`;
}

/** Where one of its ports is reachable. */
function portLine({ port, url }: ProcessRow["ports"][number]): string {
  return `port ${port}: ${url}`;
}

/** A server process has one or two. */
const maxPorts = 8;

/** Request of `start_process` (SPEC EV6). */
const startProcessRequestSchema = z.strictObject({
  ...placeOrNewSession,
  command: commandSchema.describe("Shell line, or program and arguments as a list."),
  environment: textsByName(maxEnvironmentEntries).optional().describe("Environment variables of this process."),
  env: textsByName(maxEnvironmentEntries).optional().describe("The same as environment."),
  cwd: z
    .string()
    .optional()
    .describe("Folder to start in, absolute or relative to /workdir (in a session: /work), which is the default."),
  ports: listOf(z.int().min(1).max(65_535), maxPorts)
    .optional()
    .describe(
      "TCP ports that it listens on, at most 8; the answer says at which URL of the server's machine each is reached.",
    ),
  network: runSettings.network.describe(
    'In a session: what the process may reach, as in run_code; default "none". An environment has its own for all.',
  ),
});

const startProcessResponseSchema = processSchema.extend({
  ...aboutPlace,
  restarted: z.boolean().optional().describe("In a session: whether its sandbox is a new one."),
  warnings: z.array(z.string()),
});

/** `start_process`: a process that keeps running after the call. */
export const startProcessContract = defineOperation({
  name: "start_process",
  audience: "everyone",
  description: [
    "Starts a background process, such as a server or a watcher, in an environment (env_id) or in the session of run_code, and returns at once.",
    "It lives until stop_process or the end of its place, which it keeps from being idle. Output: list_processes; input: write_stdin.",
    "In a session it has the session's files and packages. `ports` names what it listens on: the answer has URLs on the server's machine.",
  ].join(" "),
  request: startProcessRequestSchema,
  response: startProcessResponseSchema,
  routes: placeRoutes("POST", "/processes"),
  tool: {
    title: "Start a background process",
    ...quietTool,
    openWorld: true,
    text: ({ process_id: id, ports, session_id: session, warnings }) =>
      [
        `Process ${id} runs. Read its output with list_processes.`,
        ...ports.map(portLine),
        ...(session === undefined ? [] : [`session_id ${session}`]),
        ...warningLines(warnings),
      ].join("\n"),
  },
});

export type StartProcessRequest = z.input<typeof startProcessRequestSchema>;
export type StartProcessResponse = z.output<typeof startProcessResponseSchema>;

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
  ...aboutPlace,
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
  routes: [...placeRoutes("GET", "/processes"), ...placeRoutes("GET", "/processes/{process_id}")],
  tool: {
    title: "List background processes",
    ...readingTool,
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
  ...aboutPlace,
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
  routes: placeRoutes("POST", "/processes/{process_id}"),
  tool: {
    ...quietTool,
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

const stopProcessResponseSchema = processSchema.extend({ ...aboutPlace, warnings: z.array(z.string()) });

/** `stop_process`: ends a background process, or sends it a signal. */
export const stopProcessContract = defineOperation({
  name: "stop_process",
  audience: "everyone",
  description:
    "Stops a background process with everything it started: SIGTERM, and SIGKILL 750 ms later. Its output stays readable. With `signal` it only sends that signal to the process, which may continue.",
  request: stopProcessRequestSchema,
  response: stopProcessResponseSchema,
  routes: placeRoutes("DELETE", "/processes/{process_id}"),
  tool: {
    ...quietTool,
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
