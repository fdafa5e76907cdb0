import { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { followedBy } from "../../base/streams/chunks.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { OutputChunk } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { Redaction } from "../../policy/redaction.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { NetworkReport } from "../run/network-report.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import { withSecrets } from "../program/command-spec.ts";
import { copyFolder } from "../project/copy-project.ts";
import { startProgram } from "../run/start-program.ts";
import { watchProcess, type ProcessEnd } from "../run/watch-process.ts";
import { shellLine } from "./tool-variables.ts";

/** A shell line to run in a project's copy. */
export interface RunLine {
  readonly line: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly image: string;
  readonly timeoutMs: number;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
  /** Maximum bytes kept of both streams together. */
  readonly maxOutputBytes: number;
  /** Maximum bytes kept of each stream; default 0. */
  readonly maxStreamBytes?: number | undefined;
  /** Its standard input; default: empty. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Variables that are hidden from the engine; default: none. */
  readonly secrets?: readonly ProgramSecret[] | undefined;
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  readonly signal?: AbortSignal | undefined;
  readonly monotonicMs: () => number;
}

/** The result of a line. */
export interface EndedLine {
  readonly end: ProcessEnd<BoundedOutput>;
  /** The redactor of its output. */
  readonly redaction: Redaction;
  /** Both streams in order of arrival. */
  readonly output: BoundedOutput;
  readonly networkReport: NetworkReport;
  /** Whether everything it started has ended. */
  readonly isGone: boolean;
}

/**
 * How long to wait for further output of a command that has ended: processes it left behind may keep its streams open.
 */
const drainMs = 1_000;

/** Runs a line to its end, and ends everything it left running. @throws what starting it throws */
export async function runLine(sandbox: Sandbox, command: RunLine): Promise<EndedLine> {
  const { grant, signal, stdin, secrets = [] } = command;
  const redaction = new Redaction(secrets);
  const { command: words, preamble } = withSecrets(
    shellLine(command.line, { readsInput: stdin !== undefined }),
    secrets,
  );
  using program = await startProgram({
    sandbox,
    runner: () =>
      sandbox.exec(
        {
          command: words,
          environment: withPlainOutput(command.environment),
          workingDirectory: copyFolder,
        },
        { signal },
      ),
    grant,
    onDenied: command.onDenied,
    redact: (text) => redaction.text(text),
    signal,
  });
  const { process } = program;
  // Its network is there by now.
  const begin = Buffer.concat([preamble, Buffer.from("begin\n")]);
  if (stdin === undefined) process.stdin.end(begin);
  const output = new BoundedOutput(command.maxOutputBytes);
  const watched = watchProcess({
    process,
    sandbox,
    redaction,
    keep: () => new BoundedOutput(command.maxStreamBytes ?? 0),
    input: stdin && followedBy([begin], stdin),
    onOutput: (chunk) => {
      output.append(chunk.bytes);
      return command.onOutput(chunk);
    },
  });
  const end = await watched.untilEnd({ ...command, drainMs, end: () => sandbox.endProcess(process) });
  // After a forced end the sandbox is gone, with everything in it.
  const isGone = end.interruption !== null || (await sandbox.endLeftBehind(process)) === "clean";
  return { end, redaction, output, isGone, networkReport: await program.networkReport() };
}
