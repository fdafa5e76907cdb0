import { z } from "zod";
import { alertLines, warningLines, runResponse, toolingFilesSchema, toolingLines } from "./contract/program-schema.ts";
import { defineOperation, quietTool } from "./contract/operation-contract.ts";
import { runSettings } from "./contract/request-schemas.ts";

/** Request of an agent's run (SPEC AG1). */
const runAgentRequestSchema = z.strictObject({
  group: z.string().optional().describe("Name of the group that the agent works for."),
  project_path: z.string().optional().describe("Folder that the agent works in, instead of a group's."),
  agent: z
    .string()
    .optional()
    .describe("With project_path: pi, claude, codex, gemini or opencode; default: the deployment's."),
  prompt: z.string().describe("What the agent should do."),
  main: z.boolean().optional().describe("Run as the main group, which has the whole project."),
  agent_session_id: z.string().optional().describe("`new_session_id` of an earlier run, to continue it."),
  timeout_seconds: z.number().optional().describe("Default: the group's."),
  ...runSettings,
  network: runSettings.network.describe('Domains beside its model\'s, "registries" or "open"; default: the group\'s.'),
});

/** Response of an agent's run. */
const runAgentResponseSchema = z.object({
  status: z.enum(["success", "error"]).describe("success: the agent ended well and said so."),
  result: z.string().nullable().describe("The agent's final answer."),
  new_session_id: z.string().optional().describe("Send it as agent_session_id to continue."),
  agent_error: z.string().optional().describe("What the agent says went wrong."),
  ...runResponse,
  output: z.string().describe("What the agent said and did, line by line."),
  stderr: z.string(),
  log: z.string().describe("Its log, from the folder of all groups."),
  image: z.string(),
  sandbox_id: z.string(),
  tooling_files: toolingFilesSchema.describe(
    "Files that tools of the folders' owner run by themselves and that the agent changed, by their paths in its container; of many in one folder the folder; at most 100: to be looked at before such a tool is used there.",
  ),
});

/** `run_agent`: a coding agent of a group, in a container of its own. */
export const runAgentContract = defineOperation({
  name: "run_agent",
  audience: "everyone",
  description: [
    "Runs a coding agent for a group or in a folder, in a container with those folders alone, until it is done.",
    "What it writes there stays. Read `status` and `result`.",
  ].join(" "),
  request: runAgentRequestSchema,
  response: runAgentResponseSchema,
  freshSandbox: true,
  carriesContent: true,
  routes: [{ method: "POST", path: "/api/agent/run" }],
  tool: {
    title: "Run an agent",
    ...quietTool,
    destructive: true,
    openWorld: true,
    mayTakeLong: true,
    text: agentText,
  },
});

/** Response of `run_agent` as clients read it. */
export type RunAgentResponse = z.output<typeof runAgentResponseSchema>;

/** The status and the agent's final answer first, then what led to it. */
function agentText(response: RunAgentResponse): string {
  const { status, result, outcome, error, agent_error: agentError, output, stderr } = response;
  const { exit_code: exitCode, new_session_id: session } = response;
  return [
    `${status}: ${outcome}, exit code ${exitCode ?? "none"}, ${Math.round(response.duration_ms)} ms (engine ${response.engine}, log ${response.log}).`,
    ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
    ...(agentError === undefined ? [] : [`the agent's error: ${agentError}`]),
    ...(result === null ? [] : ["result:", result]),
    ...(session === undefined ? [] : [`agent_session_id: ${session}`]),
    ...(output === "" ? [] : ["output:", output.replace(/\n$/, "")]),
    ...(stderr === "" ? [] : ["stderr:", stderr.replace(/\n$/, "")]),
    ...toolingLines(response.tooling_files),
    ...alertLines(response.alerts),
    ...warningLines(response.warnings),
  ].join("\n");
}
