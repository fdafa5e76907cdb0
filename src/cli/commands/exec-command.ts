import type { Command } from "commander";
import { invalidField } from "../../errors/glovebox-error.ts";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import { execInSandboxContract, openTerminalContract } from "../../operations/live-sandbox-contract.ts";
import { ProgramOutput, type CommandIo, type SetExitCode } from "../command-io.ts";
import { withOwnTerminal } from "../own-terminal.ts";
import { sandboxWords } from "../output/option-words.ts";
import { parseVariable } from "../run-options.ts";
import { escapeLine } from "../output/terminal-text.ts";

interface ExecOptions {
  readonly cwd?: string;
  readonly env: readonly string[];
  readonly user?: string;
  readonly interactive?: boolean;
  readonly tty?: boolean;
  readonly json?: boolean;
}

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `glovebox exec`: one program in a live sandbox. */
export function addExecCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("exec")
    .argument("<id>", sandboxWords)
    .argument("<command>", "program to run")
    .argument("[args...]", "its arguments")
    .option("--cwd <folder>", "absolute folder in the sandbox to start in (default: where its programs start)")
    .option("--env <name=value>", "environment variable; may be repeated", repeated, [])
    .option(
      "-u, --user <user>",
      "user of the command, where the engine gives sandboxes users of their own: name or uid[:gid]",
    )
    .option("-i, --interactive", "pass standard input to the command")
    .option("-t, --tty", "give the command your terminal, which it can then draw on")
    .option("--json", "print exactly one JSON object at the end, instead of the output")
    .passThroughOptions()
    .addHelpText(
      "after",
      "\nOptions go before ID. With -t the command can draw on your terminal. Ctrl-C ends the command and everything it started, but nothing else in the sandbox." +
        "\nExit code: the command's own; 127 no such program, 125 Glovebox failed, 2 wrong usage.",
    )
    .action(async (id: string, name: string, args: readonly string[], options: ExecOptions) => {
      await using calls = await openCalls();
      const run = options.tty === true ? inTerminal : exec;
      setExitCode(await run(calls, { id, command: withoutDashes([name, ...args]), options }, io));
    });
}

/** `exec ID -- COMMAND` is `exec ID COMMAND`: the parser passes on everything after ID. @throws INVALID_REQUEST */
function withoutDashes(words: readonly string[]): readonly string[] {
  if (words[0] !== "--") return words;
  if (words.length === 1) throw invalidField("COMMAND", "the program to run, after --", "nothing");
  return words.slice(1);
}

interface Wanted {
  readonly id: string;
  readonly command: readonly string[];
  readonly options: ExecOptions;
}

async function exec(calls: CommandCalls, wanted: Wanted, io: CommandIo): Promise<number> {
  const { options } = wanted;
  const outputs = { stdout: new ProgramOutput(io.stdout), stderr: new ProgramOutput(io.stderr) };
  const response = await calls.send(execInSandboxContract, requestOf(wanted), {
    signal: io.signal,
    stdin: options.interactive === true ? io.stdin : undefined,
    onEvent: (event) =>
      event.type === "output" && options.json !== true ? outputs[event.stream].write(event.bytes) : undefined,
  });
  if (options.json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
  return response.exit_code;
}

async function inTerminal(calls: CommandCalls, wanted: Wanted, io: CommandIo): Promise<number> {
  return runTerminal(calls, requestOf(wanted), io);
}

function requestOf({ id, command, options }: Wanted): {
  sandbox_id: string;
  command: string[];
  environment: Record<string, string>;
  cwd?: string;
  user?: string;
} {
  return {
    sandbox_id: id,
    command: [...command],
    environment: Object.fromEntries(options.env.map(parseVariable)),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.user === undefined ? {} : { user: options.user }),
  };
}

/** A program, or a shell, in the user's own terminal, below a greeting; resolves to its exit code. */
export async function runTerminal(
  calls: CommandCalls,
  request: {
    readonly sandbox_id: string;
    readonly command?: string[];
    readonly environment?: Record<string, string>;
    readonly cwd?: string;
    readonly user?: string;
  },
  io: CommandIo,
  greeting = "",
): Promise<number> {
  return withOwnTerminal(io, async ({ size, term, sizes, typed, draw }) => {
    const { exit_code: exitCode } = await calls.send(
      openTerminalContract,
      { ...request, ...size, ...(term === undefined ? {} : { term }) },
      {
        signal: io.signal,
        stdin: typed,
        sizes,
        onEvent: async (event) => {
          if (event.type === "output") await draw(event.bytes);
          if (event.type === "terminal") io.stderr.write(greeting.replaceAll("\n", "\r\n"));
          if (event.type === "warning") io.stderr.write(`glovebox: ${escapeLine(event.message)}\r\n`);
        },
      },
    );
    return exitCode;
  });
}
