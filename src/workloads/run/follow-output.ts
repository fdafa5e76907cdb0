import { kibibyte } from "../../base/bytes.ts";
import { RingOutput } from "../../base/streams/ring-output.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";

/** What is kept of each stream of a command (SPEC OU2), and of a background process. */
export const keptBytes = { command: 64 * kibibyte, process: 256 * kibibyte } as const;

/** The newest output of a process. */
export interface FollowedOutput {
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  /** Resolves when both streams have ended; rejects with what broke them off, or with what the listener threw. */
  readonly ended: Promise<void>;
}

/** Reads what a process writes, as fast as the listener takes it, and keeps the newest part. */
export function followOutput(
  { output }: Pick<Process, "output">,
  capBytes: number,
  onOutput: (chunk: OutputChunk) => void | Promise<void> = () => undefined,
): FollowedOutput {
  const kept = { stdout: new RingOutput(capBytes), stderr: new RingOutput(capBytes) };
  const read = async (): Promise<void> => {
    for await (const chunk of output) {
      kept[chunk.stream].append(chunk.bytes);
      await onOutput(chunk);
    }
  };
  return { ...kept, ended: read() };
}
