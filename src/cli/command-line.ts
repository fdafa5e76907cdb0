import { Command, CommanderError } from "commander";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import { readPackageVersion } from "../config/host/package-version.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { reportError } from "./output/error-report.ts";
import { exitCodeOfError, exitCodes } from "./exit-code.ts";
import { addConsoleCommand } from "./console/console-command.ts";
import { addCopyCommand } from "./commands/copy-command.ts";
import { addDoctorCommand } from "./commands/doctor-command.ts";
import { addExecCommand } from "./commands/exec-command.ts";
import { addImagesCommand } from "./commands/images-command.ts";
import { addKeysCommand } from "./commands/keys-command.ts";
import { addLogsCommand } from "./logs/logs-command.ts";
import { addMcpCommand } from "./commands/mcp-command.ts";
import { addMountsCommand } from "./commands/mounts-command.ts";
import { addPackagesCommand } from "./commands/packages-command.ts";
import { addPreviewCommand } from "./preview/preview-command.ts";
import { addRunCommand } from "./run/run-command.ts";
import { addSandboxesCommands } from "./commands/sandboxes-commands.ts";
import { addServeCommand } from "./commands/serve-command.ts";
import { addStatsCommand } from "./commands/stats-command.ts";
import { addTestCommand } from "./test/test-command.ts";
import { addShellCommand } from "./commands/shell-command.ts";

/** Runs one command line and resolves to its exit code; never rejects. */
export async function runCommandLine(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode = 0;
  let json = false;
  const program = buildProgram(io, (code) => (exitCode = code));
  // The command's own option: what stands behind a program's name or `--` may look the same.
  program.hook("preAction", (_, command) => void (json = command.optsWithGlobals()["json"] === true));
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    if (typeof io.signal.reason === "number") return io.signal.reason;
    const known = toGloveboxError(error);
    reportError(known, { io, json });
    return exitCodeOfError(known);
  }
  return exitCode;
}

function buildProgram(io: CommandIo, setExitCode: SetExitCode): Command {
  const program = new Command("glovebox")
    .description("Runs code that nobody trusts yet in sealed sandboxes.")
    .version(readPackageVersion(), "-V, --version")
    .exitOverride()
    // So that what stands behind the name of a program is the program's.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("(glovebox --help lists the commands, glovebox COMMAND --help their options)");
  addRunCommand(program, io, setExitCode);
  addTestCommand(program, io, setExitCode);
  addPreviewCommand(program, io, setExitCode);
  addImagesCommand(program, io, setExitCode);
  addSandboxesCommands(program, io, setExitCode);
  addStatsCommand(program, io, setExitCode);
  addLogsCommand(program, io, setExitCode);
  addExecCommand(program, io, setExitCode);
  addShellCommand(program, io, setExitCode);
  addCopyCommand(program, io, setExitCode);
  addMountsCommand(program, io, setExitCode);
  addKeysCommand(program, io, setExitCode);
  addMcpCommand(program, io, setExitCode);
  addServeCommand(program, io, setExitCode);
  addConsoleCommand(program, io, setExitCode);
  addPackagesCommand(program, io, setExitCode);
  addDoctorCommand(program, io, setExitCode);
  return program;
}
