import type { Redaction } from "../../../policy/redaction/redaction.ts";
import type { OpenRun, RunFacts } from "../../../sandbox/run-record.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import { describeCommand } from "../../run/describe-work.ts";
import type { RunIds } from "../../run/log-ending.ts";

/** What is known of a command before it runs. */
export interface CommandFacts extends Pick<RunFacts, "timeoutMs" | "network"> {
  readonly command: readonly string[];
  readonly redaction: Redaction;
  readonly onSandbox?: ((sandboxId: string) => void) | undefined;
}

/** The run of a command begins in a sandbox; the ids get both. */
export function beginCommand(ids: RunIds, sandbox: Sandbox, facts: CommandFacts): OpenRun {
  const { command, redaction, timeoutMs, network, onSandbox } = facts;
  ids.sandbox = sandbox.id;
  const work = describeCommand(command, redaction);
  const record = (ids.record = sandbox.beginRun({ ...ids, work, timeoutMs, network }));
  onSandbox?.(sandbox.id);
  return record;
}
