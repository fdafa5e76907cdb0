import type { Command } from "commander";
import type { CommandIo, SetExitCode } from "./command-io.ts";

/** One command of `glovebox`: its line in the help, and what defines the rest. */
interface CommandRow {
  readonly name: string;
  readonly description: string;
  /** Loads its definition, so that only the command in use costs start-up time. */
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
    description:
      "Download in advance what is otherwise downloaded on first use: the default images, the session image, and Bun.",
    load: async () => (await import("./commands/prepare-command.ts")).addPrepareCommand,
  },
  {
    name: "ps",
    description: "List the live sandboxes.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addListCommand,
  },
  {
    name: "rm",
    description: "End and remove sandboxes.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addRemoveCommand,
  },
  {
    name: "prune",
    description: "Remove what crashed Glovebox processes left on the engines.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addPruneCommand,
  },
  {
    name: "stats",
    description: "Show the CPU, memory, network and disk use of live sandboxes every second until interrupted.",
    load: async () => (await import("./commands/stats-command.ts")).addStatsCommand,
  },
  {
    name: "logs",
    description: "Print the log of a sandbox: its programs' output and Glovebox's own entries.",
    load: async () => (await import("./logs/logs-command.ts")).addLogsCommand,
  },
  {
    name: "exec",
    description: "Run a command in a live sandbox of any of your Glovebox processes.",
    load: async () => (await import("./commands/exec-command.ts")).addExecCommand,
  },
  {
    name: "shell",
    description: "Open a terminal in a live sandbox, or in a fresh one that is removed at the end.",
    load: async () => (await import("./commands/shell-command.ts")).addShellCommand,
  },
  {
    name: "cp",
    description: "Copy a file or folder between this machine and a live sandbox.",
    load: async () => (await import("./commands/copy-command.ts")).addCopyCommand,
  },
  {
    name: "mounts",
    description: "Explain which host paths sandboxes can get.",
    load: async () => (await import("./commands/mounts-command.ts")).addMountsCommand,
  },
  {
    name: "keys",
    description:
      "Manage the API keys of `glovebox serve`, each with its own rights. A running server picks up changes within 2 s.",
    load: async () => (await import("./commands/keys-command.ts")).addKeysCommand,
  },
  {
    name: "mcp",
    description: "Serve the tools to an agent over MCP: on standard input and output, or on a local port.",
    load: async () => (await import("./commands/mcp-command.ts")).addMcpCommand,
  },
  {
    name: "serve",
    description: "Serve the HTTP API, with MCP at /mcp, until stopped.",
    load: async () => (await import("./commands/serve-command.ts")).addServeCommand,
  },
  {
    name: "console",
    description: "Open the console of a running `glovebox serve` in the browser, signed in.",
    load: async () => (await import("./console/console-command.ts")).addConsoleCommand,
  },
  {
    name: "packages",
    description: "Manage the cache of installed packages.",
    load: async () => (await import("./commands/packages-command.ts")).addPackagesCommand,
  },
  {
    name: "completion",
    description: "Print the completion script for bash, zsh or fish.",
    load: async () => (await import("./completion/completion-command.ts")).addCompletionCommand,
  },
  {
    name: "doctor",
    description: "Show which engines work here, what each enforces, known dangers and the configuration.",
    load: async () => (await import("./commands/doctor-command.ts")).addDoctorCommand,
  },
];
