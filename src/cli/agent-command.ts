import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { engineChoices } from "../config/engine-words.ts";
import { agentNames } from "../policy/known-agents.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import { runAgentContract, type RunAgentResponse } from "../operations/agent-contract.ts";
import { ProgramOutput, type CommandIo, type SetExitCode } from "./command-io.ts";
import { exitCodeOf, exitCodes } from "./exit-code.ts";
import { openCalls } from "./open-calls.ts";
import { describeError } from "./output/error-report.ts";
import { LiveEvents } from "./output/live-events.ts";
import { nameOption, quietOption } from "./output/option-words.ts";
import { escapeLine } from "./output/terminal-text.ts";
import { definedOnly, limitsOfOptions, parseNetworkOption } from "./run-options.ts";

/** Options of `glovebox agent` and `glovebox agent run` as the parser leaves them. */
interface AgentOptions {
  readonly group?: string;
  readonly main?: boolean;
  readonly project?: string;
  readonly session?: string;
  readonly name?: string;
  readonly quiet?: boolean;
  readonly engine?: string;
  readonly image?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly disk?: string;
  readonly network?: string;
  readonly json?: boolean;
}

/** `glovebox agent`: a coding agent in a folder, or for a group. */
export function addAgentCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const start = async (prompt: string | undefined, target: object, options: AgentOptions): Promise<void> => {
    setExitCode(await run(await requestOf(prompt, target, options, io), options, io));
  };
  const agent = program
    .command("agent")
    .argument("<agent>", `${agentNames.join(", ")}, or run for a group`)
    .argument("[prompt]", promptWords)
    .option("--project <folder>", "folder that the agent works in and may change (default: the current one)");
  addAgentOptions(agent).action(async (name: string, prompt: string | undefined, options: AgentOptions) => {
    await start(prompt, { agent: checkAgent(name), folder: options.project }, options);
  });
  const ofGroup = agent
    .command("run")
    .description("Run a coding agent for a group, until it has done what the prompt says.")
    .argument("[prompt]", promptWords)
    .requiredOption("--group <name>", "group that the agent works for; its folder is groups/NAME")
    .option("--main", "run as the main group, which has the whole project");
  addAgentOptions(ofGroup, "the group's, else ").action(async (prompt: string | undefined, options: AgentOptions) => {
    await start(prompt, { group: options.group, main: options.main }, options);
  });
}

const promptWords = "what the agent should do; default: read from standard input";

/** The options of both ways to run one; `own`: where a default comes from first. */
function addAgentOptions(command: Command, own = ""): Command {
  return command
    .option("--session <id>", "continue an earlier run, by the id that it printed")
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option("--image <reference>", `container image (default: ${own}glovebox-agent, or glovebox-agent:AGENT)`)
    .option("--timeout <duration>", `time for the agent, such as 10m (default: ${own}30m)`)
    .option("--memory <size>", "memory, such as 512m or 4g (default: 2g)")
    .option("--cpus <number>", "CPUs' worth of time (default: 2)")
    .option("--disk <size>", "how much the agent may write (default: 10g)")
    .option(
      "--network <policy>",
      `domains besides the model's, comma-separated, or none, registries or open (default: ${own}agents.network)`,
    )
    .option(...nameOption)
    .option(...quietOption)
    .option("--json", "print exactly one JSON object, the response, instead of the agent's output")
    .addHelpText(
      "after",
      "\nThe agent's progress goes to stderr as it happens, its final answer to stdout." +
        "\nExit code: 0 for success; 1 if the agent reports a failure or gives no answer, else its program's own; 124 timed out, 137 out of memory, 125 could not run, 2 wrong usage.",
    );
}

/** @throws INVALID_REQUEST naming the argument */
function checkAgent(name: string): string {
  if ((agentNames as readonly string[]).includes(name)) return name;
  throw invalidField("AGENT", `one of ${agentNames.join(", ")}, then what it should do`, name.slice(0, 80));
}

async function run({ folder, ...request }: AgentRequest, options: AgentOptions, io: CommandIo): Promise<number> {
  // The agent's own words; its final answer goes to stdout.
  const said = new ProgramOutput(io.stderr);
  const live = new LiveEvents(io.stderr, {
    isQuiet: options.quiet,
    onOutput: (output) => (options.json === true || options.quiet === true ? undefined : said.write(output.bytes)),
  });
  let response: RunAgentResponse;
  let isRemote = false;
  {
    await using calls = await openCalls();
    ({ isRemote } = calls);
    using shown = live;
    if (request["agent"] !== undefined) request["project_path"] = calls.projectPath(folder);
    response = await calls.send(runAgentContract, request, { onEvent: shown.onEvent, signal: io.signal });
  }
  if (options.json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
  else {
    if (response.result !== null) await new ProgramOutput(io.stdout).write(Buffer.from(`${response.result}\n`));
    live.warnAll(response);
    // What agents keep of folders is in the user's home.
    const logs = request["agent"] === undefined || isRemote ? "" : "~/.glovebox/agents/";
    io.stderr.write(describe({ ...response, log: `${logs}${response.log}` }, live.shown));
  }
  return typeof io.signal.reason === "number" ? io.signal.reason : exitCodeOfAgent(response);
}

/** What is sent, and the folder as it was typed, which only whoever does the work can place. */
type AgentRequest = Record<string, unknown> & { readonly folder?: string };

async function requestOf(
  prompt: string | undefined,
  target: object,
  options: AgentOptions,
  io: CommandIo,
): Promise<AgentRequest> {
  if (prompt === undefined && io.stdin.isTTY === true) {
    throw invalidField("PROMPT", "what the agent should do, as an argument or on standard input", undefined);
  }
  return definedOnly({
    ...target,
    prompt: prompt ?? (await text(io.stdin)),
    agent_session_id: options.session,
    name: options.name,
    limits: limitsOfOptions(options),
    network: parseNetworkOption(options.network),
    image: options.image,
    engine: options.engine,
  });
}

/** The status last: it is what a person looks for. */
function describe(response: RunAgentResponse, shown: ReadonlySet<string>): string {
  const {
    error,
    status,
    outcome,
    log,
    agent_error: agentError,
    new_session_id: session,
    tooling_files: tooling,
  } = response;
  const explained = error === undefined || outcome === "cancelled" ? "" : describeError(error, { shown });
  const said = agentError === undefined ? "" : `${escapeLine(`glovebox: the agent's error: ${agentError}`)}\n`;
  const files = tooling.map((file) => `${escapeLine(`glovebox: ${file.change}: ${file.path}`)}\n`).join("");
  const next = session === undefined ? "" : `; to continue: --session ${session}`;
  return `${files}${explained}${said}${escapeLine(`glovebox: ${status} (${outcome}); log: ${log}${next}`)}\n`;
}

function exitCodeOfAgent(response: RunAgentResponse): number {
  const code = exitCodeOf(response);
  return code === 0 && response.status === "error" ? exitCodes.refused : code;
}
