/**
 * The program in an agent's container, `/app/dist/index.js`: reads its task from standard input, runs the agent, passes
 * its lines on and prints the answer between the markers (`agent-protocol.ts`). It always exits with 0.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isDryRun } from "../../policy/known-agents.ts";
import { agentPaths, outputMarkers } from "./agent-container.ts";
import type { AgentOutput } from "./agent-protocol.ts";
import { agentTable } from "./commands/agent-table.ts";
import type { AgentStart, AgentTurn } from "./commands/agent-program.ts";
import { instructionsFor, readWorkspaceFiles, work } from "./work.ts";
import { readInput, type RunnerInput } from "./runner-input.ts";

const maxInputBytes = 67_108_864;
let agent: ChildProcess | null = null;

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxInputBytes) throw new Error(`The input has more than ${maxInputBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function turnFor(input: RunnerInput): Promise<AgentTurn> {
  const folders = {
    project: existsSync(agentPaths.project),
    global: existsSync(agentPaths.global),
    farmState: existsSync(agentPaths.farmState),
    dashboard: existsSync(agentPaths.dashboard),
  };
  const text = instructionsFor(input, folders, await readWorkspaceFiles([agentPaths.global, agentPaths.group]));
  const file = path.join(await mkdtemp(path.join(tmpdir(), "agent-")), "instructions.md");
  await writeFile(file, text, { mode: 0o600 });
  return {
    sessionId: input.sessionId,
    instructions: { text, file },
    variables: process.env,
    stateFolder: path.join(process.env["HOME"] ?? agentPaths.home, path.basename(agentPaths.state)),
  };
}

/** A custom command gets in variables what the agent's own gets in options. */
function startOf(input: RunnerInput, turn: AgentTurn): AgentStart {
  const start = agentTable[input.agent].start(turn);
  if (input.command === null) return start;
  return {
    command: input.command,
    folders: start.folders,
    variables: {
      ...start.variables,
      GLOVEBOX_AGENT_INSTRUCTIONS: turn.instructions.file,
      GLOVEBOX_AGENT_SESSION: input.sessionId ?? "",
    },
  };
}

async function run(): Promise<AgentOutput> {
  const input = readInput(await readStandardInput());
  const turn = await turnFor(input);
  const { command, variables, folders, instructionsInPrompt = false } = startOf(input, turn);
  if (isDryRun({ FFT_NANO_DRY_RUN: process.env["FFT_NANO_DRY_RUN"] ?? "" })) {
    const { length } = input.prompt;
    return {
      status: "success",
      result: `DRY_RUN: ${command[0]} was not started; the prompt has ${length} characters.`,
    };
  }
  for (const folder of folders) await mkdir(folder, { recursive: true });
  const { title, readFacts } = agentTable[input.agent];
  return work(
    {
      title,
      command,
      variables: { ...process.env, ...variables },
      folder: existsSync(agentPaths.group) ? agentPaths.group : process.cwd(),
      input: instructionsInPrompt ? `${turn.instructions.text}\n---\n\n${input.prompt}` : input.prompt,
      readFacts,
    },
    {
      onLine: (line) => void process.stdout.write(Buffer.concat([line, Buffer.from("\n")])),
      onError: (bytes) => void process.stderr.write(bytes),
      onStart: (child) => void (agent = child),
    },
  );
}

for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void agent?.kill(signal));
const output: AgentOutput = await run().catch((error: unknown) => ({
  status: "error" as const,
  result: null,
  error: error instanceof Error ? error.message : String(error),
}));
process.stdout.write(`${outputMarkers.start}\n${JSON.stringify(output)}\n${outputMarkers.end}\n`, () => process.exit());
