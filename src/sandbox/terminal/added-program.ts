import type { CallOptions, ExecSpec, Process, TerminalProcess, TerminalSize } from "../../engines/engine.ts";
import type { SandboxFiles } from "../files/sandbox-files.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import { withPlainOutput } from "../../policy/request/plain-output.ts";
import { redactedOutput } from "../secrets/redacted-output.ts";
import type { TreeEnd } from "../process-tree.ts";
import { type Capabilities, assertRunsAnyProgram } from "../../engines/capabilities.ts";
import { chosenUser } from "./chosen-user.ts";
import type { Sandbox } from "../sandbox.ts";

/** A program that the operator starts in a sandbox beside those of its owner. */
export interface AddedProgramSpec extends Pick<ExecSpec, "command" | "environment" | "workingDirectory"> {
  /** As `chosenUser` takes it; default: the user of the sandbox's own programs. */
  readonly user?: string | undefined;
  /** Whether it gets the variables of the sandbox's own programs, below those given here; default: it does not. */
  readonly asProgram?: boolean | undefined;
  /** Size of the terminal that it is given; default: it has none, which its variables say. */
  readonly terminal?: TerminalSize | undefined;
}

/** How a sandbox of this process is shown. */
export interface OwnSandboxView {
  /** Whether output may hold the values of secrets that the sandbox's programs were given; default true. */
  readonly withSecrets?: boolean | undefined;
}

/** A program of the operator's. It runs beside the owner's programs, and its end harms none of them. */
export interface AddedProgram extends Process {
  /**
   * Ends it with everything it started: SIGTERM, then SIGKILL. Output that has not been read is lost. Never rejects.
   */
  end(): Promise<TreeEnd>;
  /** Another size of its terminal; left out where it was given none. */
  resize?(size: TerminalSize): void;
  /** Resolves when nothing that it started is left, as far as that can be had, or the sandbox is gone. */
  readonly settled: Promise<void>;
}

/** A live sandbox of this process, for programs and files from outside. */
export interface ReachedSandbox {
  readonly id: string;
  readonly capabilities: Capabilities;
  readonly files: SandboxFiles;
  /** Removes the values of secrets for this viewer; null: it may see them, or there are none. */
  readonly redaction: Redaction | null;
  /** Whether this process removes it, or has removed it. */
  readonly isRemoved: boolean;
  /**
   * Runs a program beside the owner's.
   * @throws UNSUPPORTED at isolation preload, what `chosenUser` throws, SANDBOX_LOST, CANCELLED, and what the engine throws
   */
  exec(spec: AddedProgramSpec, options?: CallOptions): Promise<AddedProgram>;
}

export function reachedSandbox(sandbox: Sandbox, view: OwnSandboxView = {}): ReachedSandbox {
  const { id, capabilities, files } = sandbox;
  return {
    id,
    capabilities,
    files,
    redaction: redactionFor(sandbox, view),
    get isRemoved() {
      return sandbox.state !== "running";
    },
    exec: (spec, options) => addProgram(sandbox, view, spec, options),
  };
}

function redactionFor(sandbox: Sandbox, { withSecrets = true }: OwnSandboxView): Redaction | null {
  return withSecrets ? null : sandbox.output.redaction;
}

async function addProgram(
  sandbox: Sandbox,
  view: OwnSandboxView,
  spec: AddedProgramSpec,
  options?: CallOptions,
): Promise<AddedProgram> {
  assertRunsAnyProgram(sandbox.capabilities, "beside the sandbox's own program");
  const { asProgram, terminal, environment, user, ...rest } = spec;
  const variables = { ...(asProgram === true ? sandbox.programEnvironment : {}), ...environment };
  const told = terminal === undefined ? withPlainOutput(variables) : variables;
  const start = {
    ...rest,
    environment: told,
    ...(user === undefined ? {} : { user: await chosenUser(sandbox, user, options) }),
  };
  const { execInTerminal } = sandbox;
  const process: Process & Partial<Pick<TerminalProcess, "resize">> =
    terminal === undefined || execInTerminal === undefined
      ? await sandbox.exec(start, options)
      : await execInTerminal(start, terminal, options);
  const redaction = redactionFor(sandbox, view);
  return {
    stdin: process.stdin,
    output: redaction === null ? process.output : redactedOutput(process.output, redaction),
    exit: process.exit,
    kill: (signal) => process.kill(signal),
    end: () => sandbox.endProcessAlone(process),
    ...(process.signal === undefined ? {} : { signal: process.signal.bind(process) }),
    ...(process.resize === undefined ? {} : { resize: process.resize.bind(process) }),
    settled: endLeftBehind(sandbox, process),
  };
}

/** What such a program leaves running ends with it: everywhere, a program's end is the end of everything it started. */
async function endLeftBehind(sandbox: Sandbox, process: Process): Promise<void> {
  try {
    await process.exit;
    if ((await process.isGone?.()) === false) await sandbox.endLeftBehind(process);
  } catch {
    // Lost: the sandbox has ended, and everything with it.
  }
}
