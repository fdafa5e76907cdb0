import { z } from "zod";
import { listOf, textsByName } from "../contract/bounded-schemas.ts";
import { commandSchema } from "../contract/command-schema.ts";
import { maxEnvironmentEntries } from "../contract/request-maxima.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { about, placeOrNewSession } from "../contract/place-schema.ts";
import { warningLines } from "../contract/program-text.ts";
import { runSettings } from "../contract/run-settings-schema.ts";
import { portLine, processSchema } from "./process-schema.ts";

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
  ...about,
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
  routes: [
    { method: "POST", path: "/api/sessions/{session_id}/processes" },
    { method: "POST", path: "/api/environments/{env_id}/processes" },
  ],
  tool: {
    title: "Start a background process",
    readOnly: false,
    destructive: false,
    idempotent: false,
    openWorld: true,
    mayTakeLong: false,
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
