import { z } from "zod";

/*
 * The protocol between this machine and the program in an agent's container. The container's entrypoint is
 * `images/agent`; it sources `agentPaths.environmentFile` and runs `/app/dist/index.js`, which reads one `AgentInput`
 * as JSON from its standard input, to the end, and writes to its standard output, line by line:
 *
 * 1. while the agent works, the lines of the agent's own JSON mode, unchanged,
 * 2. at the end the start marker, one `AgentOutput` as JSON, and the end marker, each on lines of their own.
 *
 * Its standard error is for people. It ends with 0 also when the status is "error".
 */

/** Which agent to run, if the group's or the deployment's settings name one; missing: `pi`. */
export interface AgentCommand {
  /** A row of the table of agents. */
  readonly name: string;
  /** Program and arguments that replace that row's; missing: the row's. */
  readonly command?: readonly string[] | undefined;
}

/** What the container reads from its standard input. */
export interface AgentInput {
  readonly prompt: string;
  readonly group: string;
  readonly isMain: boolean;
  /** Whether it works in somebody's own folder, at the place of the group's; default false. */
  readonly isFolder?: boolean | undefined;
  /** `newSessionId` of an earlier run, to continue it. */
  readonly sessionId?: string | undefined;
  /** Passages of the group's memory that are relevant to the prompt. */
  readonly memoryContext?: string | undefined;
  readonly agent?: AgentCommand | undefined;
}

export function encodeAgentInput(input: AgentInput): string {
  return `${JSON.stringify(input)}\n`;
}

/** Its answer between the markers; other keys are ignored. */
const agentOutputSchema = z.object({
  status: z.enum(["success", "error"]),
  /** The agent's final answer, for people. */
  result: z.string().nullable(),
  newSessionId: z.string().max(1_000).optional(),
  error: z.string().optional(),
});

export type AgentOutput = z.output<typeof agentOutputSchema>;

/** The answer, or what is wrong with it, as a phrase that follows "The agent's answer". */
export function parseAgentOutput(text: string): AgentOutput | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "is not JSON" };
  }
  const { success, data, error } = agentOutputSchema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const at = issue?.path.join(".") ?? "";
  return { problem: `is not of the expected form${at === "" ? "" : ` at ${at}`}: ${issue?.message ?? "unknown"}` };
}

/** One thing that an agent says or does, for people. */
export interface AgentEvent {
  /** `says`: text of its answer; `does`: a tool that it uses; `note`: anything else worth a line. */
  readonly kind: "says" | "does" | "note";
  readonly text: string;
}

/**
 * Reads one parsed line of an agent's JSON mode, which is untrusted; empty if it is not worth showing. Does not throw.
 */
export type ReadAgentEvents = (line: Readonly<Record<string, unknown>>) => readonly AgentEvent[];
