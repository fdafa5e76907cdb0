import { Writable } from "node:stream";
import type { StartedProgram } from "../../inside/running-container.ts";
import { OutputQueue } from "../../output-queue.ts";
import type { RuntimeFailure } from "./runtime-failure.ts";

/** The process of a program that was never started. */
export function endedProcess(failure: RuntimeFailure): StartedProgram {
  const output = new OutputQueue(() => {
    // There is no source that could continue.
  });
  output.push({ stream: "stderr", bytes: Buffer.from(`${failure.message}\n`) });
  output.end();
  return {
    stdin: new Writable({ write: (_chunk, _encoding, done) => done() }),
    output,
    exit: Promise.resolve({ exitCode: failure.exitCode }),
  };
}
