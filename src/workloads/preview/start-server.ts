import { Redaction } from "../../policy/redaction/redaction.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { findInterpreter } from "../../sandbox/find-interpreter.ts";
import { shellLine } from "../dependencies/tool-variables.ts";
import { assertPortsFree } from "../place/background/assert-ports-free.ts";
import type { LaunchedProcess } from "../place/background/background-processes.ts";
import { copyFolder } from "../project/copy-project.ts";
import { startProgram } from "../run/start-program.ts";
import type { PreviewSandbox } from "./open-preview-sandbox.ts";

export interface ServerStart {
  /** A shell line. */
  readonly line: string;
  readonly port: number;
  readonly onDenied: (denial: Denial) => void;
  readonly signal: AbortSignal;
}

/** Starts the command of a preview in the project's copy, with its network open. @throws ALREADY_EXISTS, UNSUPPORTED */
export async function startServer(
  { sandbox, profile, grant }: Pick<PreviewSandbox, "sandbox" | "profile" | "grant">,
  { line, port, onDenied, signal }: ServerStart,
): Promise<LaunchedProcess> {
  await assertPortsFree(sandbox, [port], { signal });
  const program = await startProgram({
    sandbox,
    runner: (companion) =>
      sandbox.exec(
        {
          command: shellLine(line),
          environment: profile.environment,
          workingDirectory: copyFolder,
          concurrent: true,
          companion,
        },
        { signal },
      ),
    toolchain: grant === null ? "node" : await findInterpreter(sandbox, profile.image, { signal }),
    grant,
    onDenied,
    redact: (text) => text,
    signal,
  });
  // Its network is there by now.
  program.process.stdin.write("begin\n");
  return { process: program.process, redaction: new Redaction([]), sandbox, onEnded: () => program[Symbol.dispose]() };
}
