import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { ChangedToolingFile } from "../../policy/tooling-changes.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { parseAgentOutput, type AgentOutput } from "./agent-protocol.ts";
import type { MarkedText } from "./marked-output.ts";

/** The result of a run (SPEC AG1). */
export interface AgentResult {
  /** `success` only for an agent that exited with 0 and reported success. */
  readonly status: AgentOutput["status"];
  /** Its final answer; null if there is none. */
  readonly result: string | null;
  /** With which a later run can continue this one. */
  readonly newSessionId: string | null;
  /** What went wrong, according to the agent. */
  readonly agentError: string | null;
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  /** What it said and did, line by line. */
  readonly output: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly durationMs: number;
  readonly memoryPeakBytes: number | null;
  /** Name of its log, from the folder of all groups. */
  readonly log: string;
  readonly image: string;
  readonly sandboxId: string;
  readonly engine: EngineName;
  readonly isolation: Isolation;
  readonly ociRuntime: string | null;
  readonly policyDigest: string | null;
  /** Which files run by the folder owner's tools it changed. */
  readonly toolingFiles: readonly ChangedToolingFile[];
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}

/** The agent's answer, if any, and the error if there is no readable one. */
export interface AgentAnswer {
  readonly output: AgentOutput | null;
  readonly error: GloveboxError | null;
}

const missing = {
  none: ["no_answer", "The agent ended without an answer"],
  start: ["no_answer", "The agent ended in the middle of its answer"],
  tooLong: ["answer_too_long", "The agent's answer is too long"],
} as const;

/** Reads the answer; `log` is named in the error. */
export function readAnswer(marked: MarkedText, log: string): AgentAnswer {
  if (marked.found !== "pair") {
    const [reason, words] = missing[marked.found];
    return { output: null, error: noAnswer(words, reason, log) };
  }
  const parsed = parseAgentOutput(marked.text);
  if (!("problem" in parsed)) return { output: parsed, error: null };
  return { output: null, error: noAnswer(`The agent's answer ${parsed.problem}`, "bad_answer", log) };
}

function noAnswer(words: string, reason: string, log: string): GloveboxError {
  return new GloveboxError("INTERNAL", `${words}. Its log is ${log}.`, {
    suggestion: "Read the log: it has all that the agent and the program around it printed.",
    context: { reason, log, retryable: true },
  });
}
