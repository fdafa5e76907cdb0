import type { Process } from "../../engines/engine.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import { redactedOutput } from "./redacted-output.ts";

/** The same process, whose output is without the values of secrets. */
export function redactedProcess(process: Process, redaction: Redaction): Process {
  const { stdin, output, exit, channel } = process;
  const isGone = process.isGone?.bind(process);
  const signal = process.signal?.bind(process);
  const connect = process.connect?.bind(process);
  return {
    stdin,
    output: redactedOutput(output, redaction),
    exit,
    channel,
    kill: (name) => process.kill(name),
    ...(isGone === undefined ? {} : { isGone }),
    ...(signal === undefined ? {} : { signal }),
    ...(connect === undefined ? {} : { connect }),
  };
}
