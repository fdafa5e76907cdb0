import { containerEngineChoices } from "../../config/engine-words.ts";
import { Option, type Command } from "commander";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import {
  createEnvironmentContract,
  type CreateEnvironmentRequest,
} from "../../operations/environments/create-environment-contract.ts";
import { destroyEnvironmentContract } from "../../operations/environments/environments-contract.ts";
import { listImagesContract } from "../../operations/images/images-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { runTerminal } from "./exec-command.ts";
import { ProgressLine } from "../output/progress-line.ts";
import { parseNetworkOption } from "../run/run-options.ts";
import { escapeLine } from "../output/terminal-escape.ts";
import { withOwnTerminal } from "../terminal/own-terminal.ts";

interface ShellOptions {
  readonly image?: string;
  readonly engine?: string;
  readonly network?: string;
  readonly project?: string;
}

/** `glovebox shell`: a terminal in a sandbox. */
export function addShellCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const fresh = (flags: string, description: string): Option => new Option(flags, `${description} (without ID)`);
  program
    .command("shell")
    .argument("[id]", "id as glovebox ps shows it; without it a fresh sandbox")
    .addOption(fresh("--image <reference>", "container image; default: the one for Python programs"))
    .addOption(fresh("--engine <engine>", containerEngineChoices))
    .addOption(fresh("--network <policy>", "none, registries, open, or comma-separated domains"))
    .addOption(fresh("--project <folder>", "host folder to mount at /workdir; default: an empty one"))
    .addHelpText(
      "after",
      "\nThe program inside can draw on your terminal; sequences that make a terminal answer are removed." +
        "\nExit code: the shell's own; 125 Glovebox failed, 2 wrong usage.",
    )
    .action(async (id: string | undefined, options: ShellOptions) => {
      await using calls = await openCalls();
      if (id === undefined) return setExitCode(await inFreshSandbox(calls, options, io));
      const [unwanted] = Object.keys(options);
      if (unwanted !== undefined) throw invalidField(`--${unwanted}`, "to be left out beside the id of a sandbox", id);
      setExitCode(await runTerminal(calls, { sandbox_id: id }, io));
    });
}

async function inFreshSandbox(calls: CommandCalls, options: ShellOptions, io: CommandIo): Promise<number> {
  // Checked before anything is started.
  await withOwnTerminal(io, () => Promise.resolve());
  const progress = new ProgressLine(io.stderr);
  const environment = await calls.send(createEnvironmentContract, await environmentOf(calls, options, io), {
    signal: io.signal,
    onEvent: (event) => {
      if (event.type === "progress") progress.show(event.message, event.fraction);
    },
  });
  progress.clear();
  try {
    for (const warning of environment.warnings) io.stderr.write(`glovebox: ${escapeLine(warning)}\n`);
    return await runTerminal(calls, { sandbox_id: environment.sandbox_id }, io);
  } finally {
    await calls.send(destroyEnvironmentContract, { env_id: environment.env_id }, {});
  }
}

async function environmentOf(
  calls: CommandCalls,
  { image, engine, network, project }: ShellOptions,
  { signal }: CommandIo,
): Promise<CreateEnvironmentRequest> {
  const request = {
    image: image ?? (await pythonImage(calls, engine, signal)),
    engine,
    network: parseNetworkOption(network),
    project_root: project,
  };
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as CreateEnvironmentRequest;
}

/**
 * The image of Python programs: small, known here, and able to run a terminal. A server chooses its own.
 * @throws INVALID_REQUEST if there is none
 */
async function pythonImage(calls: CommandCalls, engine: string | undefined, signal: AbortSignal): Promise<string> {
  if (calls.isRemote) throw invalidField("--image", "an image that the server may use", "none");
  const { images } = await calls.send(listImagesContract, { engine }, { signal });
  const row = images.find(({ used_for: uses }) => uses.includes("python"));
  if (row === undefined) throw invalidField("--image", "an image", "none, and no default one is configured");
  return row.image;
}
