import type { OutputChunk } from "../engines/engine.ts";
import type { Redaction } from "../policy/redaction.ts";

/** A process's output without the values of secrets; each stream separately, and as fast as its reader takes it. */
export function redactedOutput(output: AsyncIterable<OutputChunk>, redaction: Redaction): AsyncIterable<OutputChunk> {
  const redactors = { stdout: redaction.stream(), stderr: redaction.stream() };
  const { stdout, stderr } = redactors;
  if (stdout === null || stderr === null) return output;
  return replaced(output, { stdout, stderr });
}

type Redactors = Readonly<Record<OutputChunk["stream"], NonNullable<ReturnType<Redaction["stream"]>>>>;

async function* replaced(
  output: AsyncIterable<OutputChunk>,
  redactors: Redactors,
): AsyncGenerator<OutputChunk, void, undefined> {
  for await (const { stream, bytes } of output) {
    const known = redactors[stream].write(bytes);
    if (known.length > 0) yield { stream, bytes: known };
  }
  for (const stream of ["stdout", "stderr"] as const) {
    const rest = redactors[stream].end();
    if (rest.length > 0) yield { stream, bytes: rest };
  }
}
