import { Redaction } from "../../policy/redaction.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import { shellLine } from "../dependencies/tool-variables.ts";
import { assertPortsFree } from "../place/assert-ports-free.ts";
import type { LaunchedProcess } from "../place/background-processes.ts";
import { withSecrets } from "../program/secret-shell.ts";
import { copyFolder } from "../project/copy-project.ts";
import { startProgram } from "../run/start-program.ts";
import type { PreviewSandbox } from "./open-preview-sandbox.ts";

export interface ServerStart {
  /** A shell line. */
  readonly line: string;
  readonly port: number;
  /** Of the request; they win. */
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly ProgramSecret[];
  readonly onDenied: (denial: Denial) => void;
  readonly signal: AbortSignal;
}

/** Starts the command of a preview in the project's copy, with its network open. @throws ALREADY_EXISTS, UNSUPPORTED */
export async function startServer(
  { sandbox, profile, grant }: Pick<PreviewSandbox, "sandbox" | "profile" | "grant">,
  { line, port, environment, secrets, onDenied, signal }: ServerStart,
): Promise<LaunchedProcess> {
  await assertPortsFree(sandbox, [port], { signal });
  const redaction = new Redaction(secrets);
  const { command, preamble } = withSecrets(shellLine(line, { readsInput: false }), secrets);
  const program = await startProgram({
    sandbox,
    runner: () =>
      sandbox.exec(
        {
          command,
          environment: withPlainOutput({ ...profile.environment, ...serverVariables(port), ...environment }),
          workingDirectory: copyFolder,
        },
        { signal },
      ),
    grant,
    onDenied,
    redact: (text) => redaction.text(text),
    signal,
  });
  program.process.stdin.write(preamble);
  // Its network is there by now.
  program.process.stdin.write("begin\n");
  return { process: program.process, redaction, sandbox, onEnded: () => program[Symbol.dispose]() };
}

/** What many servers take their port from; BROWSER: there is none to open. */
function serverVariables(port: number): Readonly<Record<string, string>> {
  return { PORT: String(port), BROWSER: "none" };
}
