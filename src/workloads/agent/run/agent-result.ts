import type { EngineName } from "../../../engines/engine.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { Isolation } from "../../../policy/isolation.ts";
import type { ChangedToolingFile } from "../../../policy/tooling/tooling-changes.ts";
import type { Outcome } from "../../../sandbox/outcome.ts";
import { parseAgentOutput, type AgentOutput } from "../agent-protocol.ts";
import type { MarkedText } from "../output/marked-output.ts";

/** What became of a run (SPEC AG1). */
export interface AgentResult {
  /** `success` only for an agent that ended well and said so. */
  readonly status: AgentOutput["status"];
  /** Its last word; null where there is none. */
  readonly result: string | null;
  /** By which a later run goes on with this one. */
  readonly newSessionId: string | null;
  /** What it says went wrong. */
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
  /** What it changed of the files that tools of the folders' owner run. */
  readonly toolingFiles: readonly ChangedToolingFile[];
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}

/** The agent's answer, as far as there is one, and the error when there is none that can be read. */
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
