import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { engineChoices } from "../../config/engine-words.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { runAgentContract, type RunAgentResponse } from "../../operations/agents/run-agent-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { exitCodeOf, exitCodes } from "../exit-code.ts";
import { openCalls } from "../open-calls.ts";
import { describeError } from "../output/error-report.ts";
import { LiveEvents } from "../output/live-events.ts";
import { ProgramOutput } from "../output/program-output.ts";
import { escapeLine } from "../output/terminal-escape.ts";
import { definedOnly, limitsOfOptions, parseNetworkOption } from "../run/run-options.ts";
import { runWarnings } from "../run/run-warnings.ts";

/** Options of `glovebox agent run` as the parser leaves them. */
interface AgentOptions {
  readonly group: string;
  readonly main?: boolean;
  readonly session?: string;
  readonly engine?: string;
  readonly image?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly disk?: string;
  readonly network?: string;
  readonly json?: boolean;
}

/** `glovebox agent`: coding agents of groups. */
export function addAgentCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const agent = program.command("agent").enablePositionalOptions(false);
  agent
    .command("run")
    .description("Run a coding agent for a group, until it has done what the prompt says.")
    .argument("[prompt]", "what the agent should do; default: read from standard input")
    .requiredOption("--group <name>", "group that the agent works for; its folder is groups/NAME")
    .option("--main", "run as the main group, which has the whole project")
    .option("--session <id>", "continue an earlier run, by the id that it printed")
    .option("--engine <engine>", `${engineChoices} (default: auto)`)
    .option("--image <reference>", "container image (default: the group's, else glovebox-agent)")
    .option("--timeout <duration>", "time for the agent, such as 10m (default: the group's, else 30m)")
    .option("--memory <size>", "memory, such as 512m or 4g (default: 2g)")
    .option("--cpus <number>", "CPUs' worth of time (default: 2)")
    .option("--disk <size>", "how much the agent may write (default: 10g)")
    .option(
      "--network <policy>",
      "domains besides the model's, comma-separated, or none, registries or open (default: the group's)",
    )
    .option("--json", "print exactly one JSON object, the response, instead of the agent's output")
    .addHelpText(
      "after",
      '\nExample: glovebox agent run --group family "Tidy up the shopping list"' +
        "\nThe agent's progress goes to stderr as it happens, its final answer to stdout." +
        "\nExit code: 0 for success; 1 if the agent reports a failure or gives no answer, else its program's own; 124 timed out, 137 out of memory, 125 could not run, 2 wrong usage.",
    )
    .action(async (prompt: string | undefined, options: AgentOptions) => {
      setExitCode(await run(prompt, options, io));
    });
}

async function run(prompt: string | undefined, options: AgentOptions, io: CommandIo): Promise<number> {
  const request = await requestOf(prompt, options, io);
  // The agent's own words; its final answer goes to stdout.
  const said = new ProgramOutput(io.stderr);
  const live = new LiveEvents(io.stderr, (output) => (options.json === true ? undefined : said.write(output.bytes)));
  let response: RunAgentResponse;
  {
    await using calls = await openCalls();
    using shown = live;
    response = await calls.send(runAgentContract, request, { onEvent: shown.onEvent, signal: io.signal });
  }
  if (options.json === true) io.stdout.write(`${JSON.stringify(response)}\n`);
  else {
    if (response.result !== null) await new ProgramOutput(io.stdout).write(Buffer.from(`${response.result}\n`));
    io.stderr.write(
      describe(
        response,
        live.shown,
        runWarnings(response, { shown: live.shown, namesDisk: options.disk !== undefined }),
      ),
    );
  }
  return typeof io.signal.reason === "number" ? io.signal.reason : exitCodeOfAgent(response);
}

async function requestOf(
  prompt: string | undefined,
  options: AgentOptions,
  io: CommandIo,
): Promise<Record<string, unknown>> {
  if (prompt === undefined && io.stdin.isTTY === true) {
    throw invalidField("PROMPT", "what the agent should do, as an argument or on standard input", "nothing");
  }
  return definedOnly({
    group: options.group,
    prompt: prompt ?? (await text(io.stdin)),
    main: options.main,
    agent_session_id: options.session,
    limits: limitsOfOptions(options),
    network: parseNetworkOption(options.network),
    image: options.image,
    engine: options.engine,
  });
}

/** The status last: it is what a person looks for. */
function describe(response: RunAgentResponse, shown: ReadonlySet<string>, warnings: string): string {
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
  return `${warnings}${files}${explained}${said}${escapeLine(`glovebox: ${status} (${outcome}); log: ${log}${next}`)}\n`;
}

function exitCodeOfAgent(response: RunAgentResponse): number {
  const code = exitCodeOf(response);
  return code === 0 && response.status === "error" ? exitCodes.refused : code;
}
