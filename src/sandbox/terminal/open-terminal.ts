import { readPackagedScript } from "../../base/packaged-script.ts";
import { encodeFrame, frameTypes, maxPayloadBytes } from "../../base/mux/frames.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { runSandboxCommand } from "../sandbox-command.ts";
import type { AddedProgram, AddedProgramSpec, ReachedSandbox } from "./added-program.ts";
import { findToolsScript, parseTools, terminalCommand, type TerminalHolder } from "./terminal-command.ts";
import { sensibleSize, type TerminalSize } from "./terminal-size.ts";

export interface TerminalSpec extends Pick<AddedProgramSpec, "environment" | "workingDirectory"> {
  /** Null: an interactive shell, bash where there is one. */
  readonly command: readonly string[] | null;
  readonly size: TerminalSize;
}

/** A program in a terminal, or without one where the sandbox has nothing to hold it. */
export interface OpenTerminal {
  readonly program: AddedProgram;
  readonly holder: TerminalHolder;
  /** Bytes of the program's standard input that type these. */
  type(bytes: Uint8Array): Uint8Array;
  /** Bytes of its standard input that report another size; null where the holder does not listen. */
  resize(size: TerminalSize): Uint8Array | null;
}

/** Numbers of the connections by which the holder tells input apart. */
const typed = 0;
const sized = 1;

const findMs = 30_000;

/** Runs a program in a terminal inside a sandbox. @throws what `ReachedSandbox.exec` throws */
export async function openTerminal(
  sandbox: ReachedSandbox,
  { command, size, environment, workingDirectory }: TerminalSpec,
  options: CallOptions = {},
): Promise<OpenTerminal> {
  const finder = { command: ["sh", "-c", findToolsScript], maxOutputBytes: 64, timeLimitMs: findMs };
  const { stdout } = await runSandboxCommand(sandbox, finder, options);
  const tools = parseTools(stdout.text());
  const program = await sandbox.exec(
    {
      command: terminalCommand({ tools, command, size: sensibleSize(size), pythonSource: await readHolder() }),
      environment,
      workingDirectory,
      asProgram: true,
      inTerminal: true,
    },
    options,
  );
  const isFramed = tools.holder === "python";
  return {
    program,
    holder: tools.holder,
    type: (bytes) => (isFramed ? framed(bytes) : bytes),
    resize: (wanted) => (isFramed ? encodeFrame(frameTypes.data, sized, sizeBytes(sensibleSize(wanted))) : null),
  };
}

function framed(bytes: Uint8Array): Uint8Array {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += maxPayloadBytes) {
    frames.push(encodeFrame(frameTypes.data, typed, bytes.subarray(at, at + maxPayloadBytes)));
  }
  return Buffer.concat(frames);
}

function sizeBytes({ rows, columns }: TerminalSize): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(rows, 0);
  bytes.writeUInt16BE(columns, 2);
  return bytes;
}

async function readHolder(): Promise<string> {
  return readPackagedScript(new URL("../../../images/terminals/terminal.py", import.meta.url));
}
