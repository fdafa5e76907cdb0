import type { Command } from "commander";
import type { CommandIo, SetExitCode } from "./command-io.ts";

/** One command of `glovebox`: its line in the help, and what defines the rest. */
interface CommandRow {
  readonly name: string;
  readonly description: string;
  /** Heading under which the program's help lists it. */
  readonly group: string;
  /** Command lines to try. */
  readonly examples: readonly [string, ...string[]];
  /** What to do after it, in one sentence. */
  readonly next: string;
  /** Loads its definition, so that only the command in use costs start-up time. */
  readonly load: () => Promise<(program: Command, io: CommandIo, setExitCode: SetExitCode) => void>;
}

const groups = {
  run: "Run code in a sandbox:",
  look: "Work with live sandboxes:",
  serve: "Serve agents and programs:",
  here: "This machine:",
} as const;

/** Heading of the commands that help lists last, and of `help` itself. */
export const lastGroup: string = groups.here;

/** The commands, in the order in which help lists them. */
export const commandTable: readonly CommandRow[] = [
  {
    name: "run",
    description: "Run a program in a fresh sandbox that is removed right after.",
    group: groups.run,
    examples: [
      "glovebox run hello.py",
      "glovebox run -c 'print(6 * 7)'",
      "glovebox run --network registries --packages requests fetch.py",
      "glovebox run --project . -- npm test",
    ],
    next: "`glovebox shell` opens a terminal in a sandbox; `glovebox doctor` shows what each engine enforces.",
    load: async () => (await import("./run-command.ts")).addRunCommand,
  },
  {
    name: "test",
    description: "Run a project's tests in a fresh sandbox, on a copy of the project, and count them.",
    group: groups.run,
    examples: ["glovebox test", "glovebox test . -- npm test", "glovebox test --junit report.xml"],
    next: "what failed is listed at the end; run one again with --only NAME.",
    load: async () => (await import("./test-command.ts")).addTestCommand,
  },
  {
    name: "preview",
    description: "Serve a project's page from a sandbox, on a copy of the project, until Ctrl-C.",
    group: groups.run,
    examples: ["glovebox preview --open", "glovebox preview shop --port 5173 -- npm run dev"],
    next: "open the address that it prints; Ctrl-C ends the preview.",
    load: async () => (await import("./preview-command.ts")).addPreviewCommand,
  },
  {
    name: "agent",
    description: "Run a coding agent in a folder, or for a group, in a container of its own.",
    group: groups.run,
    examples: [
      'glovebox agent claude "Fix the tests"',
      'glovebox agent run --group family "Tidy up the shopping list"',
    ],
    next: "look at what it changed (git diff); docs/agents.md explains its model's key and groups.",
    load: async () => (await import("./agent-command.ts")).addAgentCommand,
  },
  {
    name: "shell",
    description: "Open a terminal in a live sandbox, or in a fresh one that is removed at the end.",
    group: groups.look,
    examples: ["glovebox shell", "glovebox shell --project . --network registries", "glovebox shell web"],
    next: "`glovebox cp` moves files out before the shell ends; a fresh sandbox goes with it.",
    load: async () => (await import("./commands/shell-command.ts")).addShellCommand,
  },
  {
    name: "ps",
    description: "List the live sandboxes.",
    group: groups.look,
    examples: ["glovebox ps", "glovebox ps --json"],
    next: "`glovebox logs`, `exec`, `stats`, `cp` and `rm` take a name or an id of the list.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addListCommand,
  },
  {
    name: "logs",
    description: "Print the log of a sandbox: its programs' output and Glovebox's own entries.",
    group: groups.look,
    examples: ["glovebox logs web", "glovebox logs -f --since 10m web"],
    next: "`glovebox exec` looks inside while it runs.",
    load: async () => (await import("./logs-command.ts")).addLogsCommand,
  },
  {
    name: "exec",
    description: "Run a command in a live sandbox of any of your Glovebox processes.",
    group: groups.look,
    examples: ["glovebox exec web ls", "glovebox exec -i web sh"],
    next: "`glovebox shell` opens a terminal instead.",
    load: async () => (await import("./commands/exec-command.ts")).addExecCommand,
  },
  {
    name: "cp",
    description: "Copy a file or folder between this machine and a live sandbox.",
    group: groups.look,
    examples: ["glovebox cp web:/work/report.csv .", "glovebox cp ./data web:/work/"],
    next: "`glovebox exec` uses what was copied.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addCopyCommand,
  },
  {
    name: "stats",
    description: "Show the CPU, memory, network and disk use of live sandboxes every second until interrupted.",
    group: groups.look,
    examples: ["glovebox stats", "glovebox stats --once web"],
    next: "`glovebox logs` shows what a busy sandbox does; `glovebox rm` ends it.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addStatsCommand,
  },
  {
    name: "rm",
    description: "End and remove sandboxes.",
    group: groups.look,
    examples: ["glovebox rm web", "glovebox rm 2b8k 9x0q"],
    next: "`glovebox ps` shows what is left.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addRemoveCommand,
  },
  {
    name: "prune",
    description: "Remove what crashed Glovebox processes left on the engines.",
    group: groups.look,
    examples: ["glovebox prune", "glovebox prune --all"],
    next: "`glovebox ps` shows what is left.",
    load: async () => (await import("./commands/sandboxes-commands.ts")).addPruneCommand,
  },
  {
    name: "mcp",
    description: "Serve the tools to an agent over MCP: on standard input and output, or on a local port.",
    group: groups.serve,
    examples: [
      "glovebox mcp install claude-code",
      "glovebox mcp --http 7000",
      "glovebox mcp wrap -- npx -y @modelcontextprotocol/server-filesystem /workspace",
    ],
    next: "restart the client; it lists the tools of Glovebox.",
    load: async () => (await import("./commands/mcp-command.ts")).addMcpCommand,
  },
  {
    name: "serve",
    description: "Serve the HTTP API, with MCP at /mcp, until stopped.",
    group: groups.serve,
    examples: ["glovebox serve", "glovebox serve --port 8080 --min-isolation container"],
    next: "`glovebox console` opens its page; `glovebox keys add NAME` makes a key for a program.",
    load: async () => (await import("./commands/serve-command.ts")).addServeCommand,
  },
  {
    name: "console",
    description: "Open the console of a running `glovebox serve` in the browser, signed in.",
    group: groups.serve,
    examples: ["glovebox console"],
    next: "`glovebox serve` has to run.",
    load: async () => (await import("./console-command.ts")).addConsoleCommand,
  },
  {
    name: "keys",
    description:
      "Manage the API keys of `glovebox serve`, each with its own rights. A running server picks up changes within 2 s.",
    group: groups.serve,
    examples: ["glovebox keys add ci --sandboxes 4", "glovebox keys list"],
    next: "send the key as `Authorization: Bearer KEY`.",
    load: async () => (await import("./commands/keys-command.ts")).addKeysCommand,
  },
  {
    name: "doctor",
    description: "Show which engines work here, what each enforces, known dangers and the configuration.",
    group: groups.here,
    examples: ["glovebox doctor", "glovebox doctor --verbose", "glovebox doctor --prove"],
    next: "do what it says below an engine that is marked [--].",
    load: async () => (await import("./commands/doctor-command.ts")).addDoctorCommand,
  },
  {
    name: "images",
    description: "List the default images and whether the engine has them.",
    group: groups.here,
    examples: ["glovebox images", "glovebox images pull python:3.12-slim"],
    next: "`glovebox prepare` gets all that is missing.",
    load: async () => (await import("./commands/machine-commands.ts")).addImagesCommand,
  },
  {
    name: "prepare",
    description:
      "Download in advance what is otherwise downloaded on first use: the default images, the session image, and Bun.",
    group: groups.here,
    examples: ["glovebox prepare", "glovebox prepare --export ./prepared"],
    next: "`glovebox images` shows what is here.",
    load: async () => (await import("./commands/machine-commands.ts")).addPrepareCommand,
  },
  {
    name: "packages",
    description: "Manage the cache of installed packages.",
    group: groups.here,
    examples: ["glovebox packages", "glovebox packages prune --to 2g"],
    next: "packages come back by themselves when a run needs them.",
    load: async () => (await import("./commands/machine-commands.ts")).addPackagesCommand,
  },
  {
    name: "mounts",
    description: "Explain which host paths sandboxes can get.",
    group: groups.here,
    examples: ["glovebox mounts list", "glovebox mounts check ./data"],
    next: "docs/mounts.md explains the allowlist.",
    load: async () => (await import("./commands/machine-commands.ts")).addMountsCommand,
  },
  {
    name: "completion",
    description: "Print the completion script for bash, zsh or fish.",
    group: groups.here,
    examples: ['eval "$(glovebox completion bash)"'],
    next: "open a new shell; names of live sandboxes are completed as well.",
    load: async () => (await import("./completion-command.ts")).addCompletionCommand,
  },
];
