import { containerEngineChoices } from "../../config/engine-words.ts";
import type { Command } from "commander";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import {
  buildImagesContract,
  listImagesContract,
  pullImagesContract,
  type ImageRow,
} from "../../operations/images-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { formatTable } from "../output/format-table.ts";
import { LiveEvents } from "../output/live-events.ts";

interface ImagesOptions {
  readonly engine?: string;
  readonly json?: boolean;
}

/** `glovebox images`: lists the default images and whether they are here, and gets them. */
export function addImagesCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const images = program
    .command("images")
    // Its options may also come after its subcommands.
    .enablePositionalOptions(false)
    .option("--engine <engine>", `${containerEngineChoices} (default: auto)`)
    .option("--json", "print one JSON object")
    .action(async (options: ImagesOptions) => {
      await withProgress(io, async (calls, call) => {
        print((await calls.send(listImagesContract, request(options), call)).images, options, io);
      });
      setExitCode(0);
    });
  images
    .command("pull")
    .description("Pull images; default: the default images that are missing.")
    .argument("[references...]", "images to pull")
    .action(async (references: string[], _: unknown, command: Command) => {
      const options = command.optsWithGlobals<ImagesOptions>();
      await withProgress(io, async (calls, call) => {
        const asked = references.length > 0 ? { images: references } : {};
        const { images: pulled } = await calls.send(pullImagesContract, { ...request(options), ...asked }, call);
        print(pulled, options, io);
      });
      setExitCode(0);
    });
  images
    .command("build")
    .description("Rebuild Glovebox's own images; default: the session image.")
    .argument("[images...]", "bun-runner-base, glovebox-agent, or glovebox-agent:NAME for another agent")
    .action(async (named: string[], _: unknown, command: Command) => {
      const options = command.optsWithGlobals<ImagesOptions>();
      await withProgress(io, async (calls, call) => {
        const asked = named.length > 0 ? { images: named } : {};
        print((await calls.send(buildImagesContract, { ...request(options), ...asked }, call)).images, options, io);
      });
      setExitCode(0);
    });
}

function request({ engine }: ImagesOptions): { engine?: string } {
  return engine === undefined ? {} : { engine };
}

type Work = (
  calls: CommandCalls,
  call: Pick<LiveEvents, "onEvent"> & { readonly signal: AbortSignal },
) => Promise<void>;

async function withProgress(io: CommandIo, work: Work): Promise<void> {
  using live = new LiveEvents(io.stderr);
  await using calls = await openCalls();
  await work(calls, { signal: io.signal, onEvent: live.onEvent });
}

function print(rows: readonly ImageRow[], { json }: ImagesOptions, io: CommandIo): void {
  if (json === true) {
    io.stdout.write(`${JSON.stringify({ images: rows })}\n`);
    return;
  }
  const cells = rows.map((row) => [row.image, row.present ? "yes" : "no", row.used_for.join(", ")]);
  io.stdout.write(formatTable(["IMAGE", "PRESENT", "USED FOR"], cells));
}
