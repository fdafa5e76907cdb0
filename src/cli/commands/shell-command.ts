import { escapeLine } from "../output/terminal-text.ts";
import { embeddedEngine, engineChoices } from "../../config/engine-words.ts";
import { Option, type Command } from "commander";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import {
  createEnvironmentContract,
  destroyEnvironmentContract,
  type CreateEnvironmentRequest,
  type CreateEnvironmentResponse,
} from "../../operations/environments-contract.ts";
import { listFilesContract } from "../../operations/files-contract.ts";
import { endSessionContract, getSessionContract, openSessionContract } from "../../operations/session-contract.ts";
import { ProgressLine, type CommandIo, type SetExitCode } from "../command-io.ts";
import { runTerminal } from "./exec-command.ts";
import { nameOption, sandboxWords } from "../output/option-words.ts";
import { parseNetworkOption } from "../run-options.ts";
import { withOwnTerminal } from "../own-terminal.ts";

interface ShellOptions {
  readonly name?: string | undefined;
  readonly image?: string | undefined;
  readonly engine?: string | undefined;
  readonly network?: string | undefined;
  readonly project?: string | undefined;
}

/** What a shell without a container may have. */
type SessionOptions = Pick<ShellOptions, "engine" | "name">;

/** `glovebox shell`: a terminal in a sandbox. */
export function addShellCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const fresh = (flags: string, description: string): Option => new Option(flags, `${description} (without ID)`);
  program
    .command("shell")
    .argument("[id]", `a live sandbox: ${sandboxWords}; without it a fresh one`)
    .addOption(fresh("--image <reference>", "container image; default: by the project, else the one of sessions"))
    .addOption(fresh("--engine <engine>", engineChoices))
    .addOption(fresh("--network <policy>", "none, registries, open, or comma-separated domains"))
    .addOption(fresh(...nameOption))
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
      setExitCode(await runTerminal(calls, { sandbox_id: id }, io, visitGreeting));
    });
}

async function inFreshSandbox(calls: CommandCalls, options: ShellOptions, io: CommandIo): Promise<number> {
  // Checked before anything is started.
  await withOwnTerminal(io, () => Promise.resolve());
  if (options.engine === embeddedEngine) return inSession(calls, sessionOptions(options), io);
  const environment = await openEnvironment(calls, options, io);
  if (environment === null) return inSession(calls, { name: options.name }, io);
  try {
    for (const warning of environment.warnings) io.stderr.write(`glovebox: ${escapeLine(warning)}\n`);
    const { project } = options;
    const mounted = project === undefined ? null : { path: project, readOnly: environment.read_only };
    io.stderr.write(shellGreeting({ ...environment, folder: environment.mount_path, project: mounted }));
    return await runTerminal(calls, { sandbox_id: environment.sandbox_id }, io);
  } finally {
    await calls.send(destroyEnvironmentContract, { env_id: environment.env_id }, {});
  }
}

/** A fresh environment; null if no engine has containers, and nothing that was asked for needs one. */
async function openEnvironment(
  calls: CommandCalls,
  options: ShellOptions,
  io: CommandIo,
): Promise<CreateEnvironmentResponse | null> {
  const progress = new ProgressLine(io.stderr);
  try {
    return await calls.send(createEnvironmentContract, environmentOf(calls, options), {
      signal: io.signal,
      onEvent: (event) => {
        if (event.type === "progress") progress.show(event.message, event.fraction);
      },
    });
  } catch (error) {
    const { engine = "auto", image, network, project } = options;
    const needsContainer = engine !== "auto" || [image, network, project].some((given) => given !== undefined);
    const isDown = error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE";
    if (!isDown || needsContainer || calls.isRemote) throw error;
    progress.clear();
    io.stderr.write("glovebox: no container engine answers: using the embedded sandbox\n");
    return null;
  } finally {
    progress.clear();
  }
}

/** @throws INVALID_REQUEST for what only a container has */
function sessionOptions({ engine, name, image, network, project }: ShellOptions): SessionOptions {
  for (const [option, given] of Object.entries({ image, network, project })) {
    if (given === undefined) continue;
    throw invalidField(`--${option}`, `to be left out beside --engine ${embeddedEngine}, or another engine`, given);
  }
  return { engine, name };
}

/** A shell in a fresh session, where there are no containers. */
async function inSession(calls: CommandCalls, options: SessionOptions, io: CommandIo): Promise<number> {
  const session = await calls.send(openSessionContract, options, { signal: io.signal });
  const id = { session_id: session.session_id };
  try {
    for (const warning of session.warnings) io.stderr.write(`glovebox: ${escapeLine(warning)}\n`);
    // Its sandbox starts with its first call.
    await calls.send(listFilesContract, id, { signal: io.signal });
    const { sandbox_id: sandboxId } = await calls.send(getSessionContract, id, { signal: io.signal });
    if (sandboxId === null) throw new GloveboxError("SANDBOX_LOST", "The sandbox of the shell ended before it began.");
    io.stderr.write(shellGreeting({ ...session, image: null, network: "none", folder: "/work", project: null }));
    return await runTerminal(calls, { sandbox_id: sandboxId }, io);
  } finally {
    await calls.send(endSessionContract, id, {});
  }
}

function environmentOf(
  calls: CommandCalls,
  { name, image, engine, network, project }: ShellOptions,
): CreateEnvironmentRequest {
  const request = {
    image,
    name,
    engine,
    network: parseNetworkOption(network),
    project_root: project === undefined ? undefined : calls.projectPath(project),
  };
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** What a fresh shell runs in. */
export interface ShellPlace {
  readonly engine: string;
  /** Null where the engine has no images. */
  readonly image: string | null;
  readonly network: string | readonly string[];
  readonly limits: { readonly cpus: number; readonly memory_mb: number; readonly pids: number };
  /** Its working folder, and the folder of this machine that it is; null: none is. */
  readonly folder: string;
  readonly project: { readonly path: string; readonly readOnly: boolean } | null;
}

/** What somebody should know before they type, in two lines: where they are, and what stays of it. */
export function shellGreeting({ engine, image, network, limits, folder, project }: ShellPlace): string {
  const { cpus, memory_mb: memory, pids } = limits;
  const reach = typeof network === "string" ? network : network.join(", ");
  const lines = [
    `${image === null ? "no image" : `image ${image}`} on ${engine}, network ${reach}, at most ${cpus} CPU${cpus === 1 ? "" : "s"}, ${memory} MB of memory, ${pids} processes`,
    `${filesWords(folder, project)} exit or Ctrl-D ends it.`,
  ];
  return lines.map((line) => `glovebox: ${escapeLine(line)}\n`).join("");
}

/** The same for a sandbox that others opened. */
const visitGreeting = "glovebox: the sandbox, its programs and its files stay when this shell ends\n";

function filesWords(folder: string, project: ShellPlace["project"]): string {
  if (project === null)
    return `All files, also those in ${folder}, are removed when this shell ends (\`glovebox cp\` takes some out);`;
  const stays = project.readOnly ? "cannot be changed" : "keeps what you write there";
  return `${folder} is ${project.path} of this machine, and ${stays}; everything else is removed when this shell ends;`;
}
