import type { Command } from "commander";
import { engineChoices } from "../../config/engine-words.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { openCalls } from "../open-calls.ts";
import { LiveEvents } from "../output/live-events.ts";
import { nameOption, quietOption } from "../output/name-option.ts";
import { pathAndCommand } from "../path-and-command.ts";
import { startPreview } from "./start-preview.ts";
import { requestOfPreview, type PreviewCommandOptions } from "./preview-options.ts";
import { showPreview } from "./show-preview.ts";

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `glovebox preview`: a project's page, served from a sandbox until Ctrl-C. */
export function addPreviewCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("preview")
    .argument("[path]", "the project's folder (default: the current one)")
    .argument(
      "[command...]",
      "what serves the page, after --; one argument is a shell line (default: what the project says, such as its dev script)",
    )
    .option(
      "--port <port>",
      "port the command listens on; another one is followed (default: as the command or its tool says, else 3000)",
    )
    .option("--open", "open the page in the browser when it answers")
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option("--image <reference>", "container image (default: chosen by command, lockfile or files)")
    .option(
      "--dockerfile",
      "build the project's own Dockerfile and serve from its image, if the configuration allows it",
    )
    .option("--setup <line>", 'shell line that installs dependencies first (default: by the lockfile; "": nothing)')
    .option("--timeout <duration>", "time until it ends by itself, such as 10m (default: 30m)")
    .option("--memory <size>", "memory, such as 512m or 4g (default: 1g)")
    .option("--cpus <number>", "CPUs' worth of time (default: 1)")
    .option("--disk <size>", "writable space (default: 1g)")
    .option("--env <name=value>", "environment variable; may be repeated", repeated, [])
    .option("--secret <name>", "configured secret to pass as a variable; NAME=VARIABLE to rename it", repeated, [])
    .option("--include-ignored", "also copy node_modules and files that .gitignore excludes")
    .option("--network <policy>", "none, registries, open, or comma-separated domains (default: none)")
    .option("--min-isolation <level>", "namespaces, container or vm: refuse engines with weaker isolation")
    .option(...nameOption)
    .option(...quietOption)
    .option("--json", "print one JSON object per status change, instead of the output")
    .addHelpText(
      "after",
      "\nThe address and Glovebox's messages go to stderr, the command's output to stdout and stderr as it arrives." +
        "\nExit code: 0 after Ctrl-C; 1 if the command ended by itself, 124 at the time limit, 125 if it could not be started, 2 wrong usage.",
    )
    .action(async (path: string | undefined, command: readonly string[], options: PreviewCommandOptions) => {
      const given = pathAndCommand(program, path, command);
      const request = requestOfPreview(given.command, options);
      await using calls = await openCalls();
      request["project_path"] = calls.projectPath(given.path);
      const live = new LiveEvents(io.stderr, { isQuiet: options.quiet });
      const started = await startPreview(calls, request, { live, signal: io.signal });
      setExitCode(await showPreview(calls, started, { ...options, live }, io));
    });
}
