import { containerEngineChoices, embeddedEngine } from "../../config/engine-words.ts";
import { Option, type Command } from "commander";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import {
  buildImagesContract,
  listImagesContract,
  pullImagesContract,
  exportPreparedContract,
  importPreparedContract,
  type ImageRow,
  type PreparedResponse,
} from "../../operations/images-contract.ts";
import { ProgressLine, type CommandIo, type SetExitCode } from "../command-io.ts";
import { formatTable, escapeLine } from "../output/terminal-text.ts";
import { LiveEvents } from "../output/live-events.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { executeCodeContract } from "../../operations/execute-contract.ts";

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

type Work = (
  calls: CommandCalls,
  call: Pick<LiveEvents, "onEvent"> & { readonly signal: AbortSignal },
) => Promise<void>;

interface PrepareOptions {
  readonly export?: string;
  readonly import?: string;
  readonly engine?: string | undefined;
  readonly e2b?: true | undefined;
  readonly json?: boolean;
}

/** What was prepared, and what this machine has no engine for. */
interface Prepared {
  readonly ready: readonly string[];
  readonly left_out: readonly string[];
  /** What was exported to a folder, or imported from one. */
  readonly files?: PreparedResponse["files"];
}

type Prepare = (calls: CommandCalls, call: Parameters<CommandCalls["send"]>[2]) => Promise<readonly string[]>;

/** `glovebox prepare`: fetches ahead of time what would otherwise be fetched when first needed. */
export function addPrepareCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("prepare")
    .addOption(new Option("--engine <engine>", "prepare only this engine (default: every engine used here)"))
    .option("--e2b", "also the images of the templates of E2B's clients (docs/clients.md)")
    .option("--export <folder>", "also write it all into this new folder, for a machine without a network")
    .option("--import <folder>", "take it from such a folder, checked by its digests, instead of fetching it")
    .option("--json", "print one JSON object")
    .action(async ({ engine, json, e2b, ...folders }: PrepareOptions) => {
      if (folders.export !== undefined && folders.import !== undefined) {
        throw invalidField("--import", "to be left out beside --export", folders.import);
      }
      const progress = new ProgressLine(io.stderr);
      await using calls = await openCalls();
      if (calls.isRemote) throw onThisMachine();
      try {
        const prepared = await prepareWith(folders, { engine, e2b }, calls, {
          signal: io.signal,
          onEvent: (event) => {
            if (event.type === "progress") progress.show(event.message, event.fraction);
          },
        });
        const { ready, left_out, files = [] } = prepared;
        progress.clear();
        if (json === true) io.stdout.write(`${JSON.stringify(prepared)}\n`);
        else {
          const verb = folders.export === undefined ? "imported" : "exported";
          const rows = files.map(({ what, sha256 }) => `${escapeLine(`${verb}: ${what}, sha256 ${sha256}`)}\n`);
          io.stdout.write([...ready.map((each) => `ready: ${each}\n`), ...rows].join(""));
          io.stderr.write(left_out.map((each) => `glovebox: left out: ${each}\n`).join(""));
        }
        setExitCode(0);
      } finally {
        progress.clear();
      }
    });
}

/** Fetches and exports to a folder; or imports from one, and then fetches only what is missing. */
async function prepareWith(
  folders: Pick<PrepareOptions, "export" | "import">,
  { engine, e2b }: Pick<PrepareOptions, "engine" | "e2b">,
  calls: CommandCalls,
  call: Parameters<Prepare>[1],
): Promise<Prepared> {
  const named = engine === undefined || engine === "auto" ? {} : { engine };
  if (folders.import !== undefined) {
    const { files } = await calls.send(importPreparedContract, { folder: folders.import, ...named }, call);
    const steps = files.some(({ file }) => file.endsWith(".tgz")) ? [bun] : [];
    // What was imported is there, whether or not this machine can run Bun now.
    return { ...(await prepare(steps, calls, call, true)), files };
  }
  const prepared = await prepare(stepsFor({ engine, e2b }), calls, call);
  if (folders.export === undefined) return prepared;
  const { files } = await calls.send(exportPreparedContract, { folder: folders.export, ...named, e2b }, call);
  return { ...prepared, files };
}

/** Bun comes with the first program that runs under it, which also shows that it does. */
const bun: Prepare = async (calls, call) => {
  const program = { language: "javascript", code: "0", engine: embeddedEngine, runtime: "bun" };
  const { outcome, error } = await calls.send(executeCodeContract, program, call);
  if (outcome === "completed") return [`JavaScript and TypeScript on engine ${embeddedEngine}`];
  throw new GloveboxError(
    "ENGINE_UNAVAILABLE",
    `A program on engine ${embeddedEngine} ended: ${outcome}. ${error?.message ?? ""}`,
  );
};

const images =
  (asked: Pick<PrepareOptions, "engine" | "e2b">): Prepare =>
  async (calls, call) =>
    (await calls.send(pullImagesContract, asked, call)).images.map((row) => `image ${row.image} (${row.engine})`);

function stepsFor({ engine, e2b }: Pick<PrepareOptions, "engine" | "e2b">): readonly Prepare[] {
  if (engine === embeddedEngine) return [bun];
  return engine === undefined || engine === "auto" ? [images({ e2b }), bun] : [images({ engine, e2b })];
}

/**
 * Prepares everything; engines that this machine does not have are skipped, as long as there is one.
 * @throws the error of a failed fetch, or of the first engine if there is none
 */
async function prepare(
  steps: readonly Prepare[],
  calls: CommandCalls,
  call: Parameters<Prepare>[1],
  mayLackAll = false,
): Promise<Prepared> {
  const missing: GloveboxError[] = [];
  const attempt = async (step: Prepare): Promise<readonly string[]> => {
    try {
      return await step(calls, call);
    } catch (error) {
      if (!isAbsentEngine(error)) throw error;
      missing.push(error);
      return [];
    }
  };
  const ready = (await Promise.all(steps.map(attempt))).flat();
  if (!mayLackAll && ready.length === 0 && missing[0] !== undefined) throw missing[0];
  return { ready, left_out: missing.map(({ message }) => message) };
}

function isAbsentEngine(error: unknown): error is GloveboxError {
  if (!(error instanceof GloveboxError) || error.context["missing"] === "bun") return false;
  return error.errorType === "ENGINE_UNAVAILABLE" || error.errorType === "UNSUPPORTED";
}

function onThisMachine(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "prepare is for this machine, and GLOVEBOX_URL names a server.", {
    suggestion: "Run it on the server's machine, or unset GLOVEBOX_URL.",
  });
}

function request({ engine }: ImagesOptions): { engine?: string } {
  return engine === undefined ? {} : { engine };
}

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
