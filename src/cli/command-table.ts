import type { Command } from "commander";
import type { CommandIo, SetExitCode } from "./command-io.ts";

/** One command of `glovebox`: what help says of it, and what defines the rest. */
interface CommandRow {
  readonly name: string;
  readonly description: string;
  /** Loads what defines it: a command line pays for its own command alone. */
  readonly load: () => Promise<(program: Command, io: CommandIo, setExitCode: SetExitCode) => void>;
}

/** The commands, in the order in which help lists them. */
export const commandTable: readonly CommandRow[] = [
  {
    name: "run",
    description: "Run a program in a fresh sandbox that is removed right after.",
    load: async () => (await import("./run/run-command.ts")).addRunCommand,
  },
  {
    name: "test",
    description: "Run a project's tests in a fresh sandbox, on a copy of the project, and count them.",
    load: async () => (await import("./test/test-command.ts")).addTestCommand,
  },
  {
    name: "preview",
    description: "Serve a project's page from a sandbox, on a copy of the project, until Ctrl-C.",
    load: async () => (await import("./preview/preview-command.ts")).addPreviewCommand,
  },
  {
    name: "agent",
    description: "Run a coding agent for a group, in a container of its own.",
    load: async () => (await import("./agent/agent-command.ts")).addAgentCommand,
  },
  {
    name: "images",
    description: "List the default images and whether the engine has them.",
    load: async () => (await import("./commands/images-command.ts")).addImagesCommand,
  },
  {
    name: "prepare",
    description: "Fetch beforehand what is fetched on first use: the default images, that of sessions, and Bun.",
    load: async () => (await import("./commands/prepare-command.ts")).addPrepareCommand,
  },
  {
    name: "ps",
    description: "List the sandboxes that exist now.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addListCommand,
  },
  {
    name: "rm",
    description: "End and remove sandboxes.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addRemoveCommand,
  },
  {
    name: "prune",
    description: "Remove what dead processes of Glovebox have left on the engines.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addPruneCommand,
  },
  {
    name: "stats",
    description: "Show what live sandboxes use of CPU, memory, network and disk, each second until it is interrupted.",
    load: async () => (await import("./commands/stats-command.ts")).addStatsCommand,
  },
  {
    name: "logs",
    description: "Print the log of a sandbox: what its programs wrote, and what Glovebox says of it.",
    load: async () => (await import("./logs/logs-command.ts")).addLogsCommand,
  },
  {
    name: "exec",
    description: "Run a command in a sandbox that runs already, whichever Glovebox process has it.",
    load: async () => (await import("./commands/exec-command.ts")).addExecCommand,
  },
  {
    name: "shell",
    description: "Open a terminal in a sandbox that runs already, or in a fresh one that is removed at the end.",
    load: async () => (await import("./commands/shell-command.ts")).addShellCommand,
  },
  {
    name: "cp",
    description: "Copy a file or folder between this machine and a sandbox that runs already.",
    load: async () => (await import("./commands/copy-command.ts")).addCopyCommand,
  },
  {
    name: "mounts",
    description: "Explain which paths of this machine sandboxes may get.",
    load: async () => (await import("./commands/mounts-command.ts")).addMountsCommand,
  },
  {
    name: "keys",
    description: "API keys of `glovebox serve`, each with its own rights. A running server follows changes within 2 s.",
    load: async () => (await import("./commands/keys-command.ts")).addKeysCommand,
  },
  {
    name: "mcp",
    description: "Serve the tools to an agent over MCP: on standard input and output, or on a local port.",
    load: async () => (await import("./commands/mcp-command.ts")).addMcpCommand,
  },
  {
    name: "serve",
    description: "Serve the HTTP API, with MCP at /mcp, until it is asked to end.",
    load: async () => (await import("./commands/serve-command.ts")).addServeCommand,
  },
  {
    name: "console",
    description: "Open the console of a running `glovebox serve` in the browser, signed in.",
    load: async () => (await import("./console/console-command.ts")).addConsoleCommand,
  },
  {
    name: "packages",
    description: "Installed packages that are kept for later runs.",
    load: async () => (await import("./commands/packages-command.ts")).addPackagesCommand,
  },
  {
    name: "completion",
    description: "Print what makes bash, zsh or fish complete commands and options.",
    load: async () => (await import("./completion/completion-command.ts")).addCompletionCommand,
  },
  {
    name: "doctor",
    description: "Show which engines can be used here, what each enforces, known dangers and the configuration.",
    load: async () => (await import("./commands/doctor-command.ts")).addDoctorCommand,
  },
];
