import type { Command } from "commander";
import { engineChoices } from "../../config/engine-words.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { openCalls } from "../open-calls.ts";
import { startPreview } from "./start-preview.ts";
import { requestOfPreview, type PreviewCommandOptions } from "./preview-options.ts";
import { showPreview } from "./show-preview.ts";

const repeated = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `glovebox preview`: a project's page, served from a sandbox until Ctrl-C. */
export function addPreviewCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("preview")
    .argument("[path]", "the project's folder (default: the current one)")
    .argument("[command...]", "what serves the page, after --; one argument is a shell line")
    .option("--port <port>", "port that the command listens on (default: 3000)")
    .option("--open", "open the page in the browser when it answers")
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option("--image <reference>", "container image (default: by the command, the lockfile or the files)")
    .option(
      "--dockerfile",
      "build the project's own Dockerfile and serve from its image, where the configuration allows it",
    )
    .option("--setup <line>", 'shell line that installs first (default: by the lockfile; "": nothing)')
    .option("--timeout <duration>", "after so long it ends by itself, such as 10m (default: 30m)")
    .option("--memory <size>", "memory, such as 512m or 4g (default: 1g)")
    .option("--cpus <number>", "CPUs' worth of time (default: 1)")
    .option("--disk <size>", "writable space (default: 1g)")
    .option("--env <name=value>", "environment variable; may be repeated", repeated, [])
    .option(
      "--secret <name>",
      "secret of the configuration, as a variable; NAME=VARIABLE for another name",
      repeated,
      [],
    )
    .option("--include-ignored", "copy node_modules and what .gitignore names, too")
    .option("--network <policy>", "none, registries, open, or domains with commas between them (default: none)")
    .option("--min-isolation <level>", "namespaces, container or vm: refuse engines that seal less")
    .option("--json", "print one JSON object a change of its status, instead of its output")
    .addHelpText(
      "after",
      "\nExample: glovebox preview . --port 5173 -- npm run dev" +
        "\nThe address and what Glovebox says go to stderr, the command's output to stdout and stderr as it comes." +
        "\nExit code: 0 after Ctrl-C; 1 when the command ended by itself, 124 at the time limit, 125 when it could not be started, 2 wrong usage.",
    )
    .action(async (path: string | undefined, command: readonly string[], options: PreviewCommandOptions) => {
      const request = requestOfPreview(path, command, options);
      await using calls = await openCalls();
      const started = await startPreview(calls, request, io);
      setExitCode(await showPreview(calls, started, options, io));
    });
}
