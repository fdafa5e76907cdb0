import { encodeAgentInput, type AgentEvent, type ReadAgentEvents } from "./agent-protocol.ts";
import type { AgentFact } from "./commands/agent-program.ts";
import type { AgentName } from "../../policy/known-agents.ts";
import { agentTable, isAgentName } from "./commands/agent-table.ts";
import { LineReader, type Line } from "../../base/streams/line-reader.ts";
import { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import type { OutputChunk } from "../../engines/engine.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { NetworkReport } from "../run/network-report.ts";
import { startProgram } from "../run/start-program.ts";
import { watchProcess, type ProcessEnd } from "../run/watch-process.ts";
import { agentPaths, outputMarkers } from "./agent-container.ts";
import { MarkedOutput, type MarkedText } from "./agent-result.ts";
import type { AgentRun, ReadyAgent } from "./agent-run.ts";
import type { RunLog } from "./run-log.ts";

/** Program of every image for agents; it needs no arguments. */
const entrypoint = ["/app/entrypoint.sh"];

/** Maximum bytes of the answer between the markers. */
const maxAnswerBytes = 10 * 1024 * 1024;

/** How long to wait for further output of an agent that has ended: nothing else keeps its streams open for long. */
const drainMs = 2_000;

export interface AgentPlace {
  readonly sandbox: Sandbox;
  /** Removes the values of the agent's variables from everything it prints. */
  readonly redaction: Redaction;
  readonly log: RunLog;
  readonly environment: Readonly<Record<string, string>>;
}

/** An agent that has ended, on its own or by force. */
export interface WorkedAgent {
  readonly end: ProcessEnd<BoundedOutput>;
  /** What it said and did, for people. */
  readonly output: BoundedOutput;
  readonly marked: MarkedText;
  readonly networkReport: NetworkReport;
}

/** Starts the agent in its sandbox, gives it its input and watches it to its end. @throws what starting it throws */
export async function workInSandbox(run: AgentRun, ready: ReadyAgent, at: AgentPlace): Promise<WorkedAgent> {
  const { spec, dependencies, caller, listener } = run;
  const { sandbox, redaction, environment } = at;
  const { grant } = ready;
  const { signal } = caller;
  using program = await startProgram({
    sandbox,
    runner: () => sandbox.exec({ command: entrypoint, environment, workingDirectory: agentPaths.group }, { signal }),
    grant,
    onDenied: listener.onDenied,
    redact: (text) => redaction.text(text),
    signal,
  });
  const { process } = program;
  const heard = listen(run, at);
  const watched = watchProcess({
    process,
    sandbox,
    redaction,
    // Standard output is shown to people in another form.
    keep: () => new BoundedOutput(dependencies.maxOutputBytes),
    input: inputOf(run, ready),
    onOutput: heard.onOutput,
  });
  const end = await watched.untilEnd({
    timeoutMs: spec.limits.timeoutMs,
    drainMs,
    signal,
    monotonicMs: dependencies.monotonicMs,
    // A copy of its folders comes back from a sandbox that lives on.
    end: async () => {
      if (ready.capabilities.hostPaths) await sandbox.endProcess(process);
      else await sandbox.endProcessAlone(process);
    },
  });
  return { end, ...(await heard.end()), networkReport: await program.networkReport() };
}

async function* inputOf({ spec }: AgentRun, { memoryContext }: ReadyAgent): AsyncIterable<Uint8Array> {
  const { prompt, group, sessionId, agent } = spec;
  const input = {
    prompt,
    group: group.name,
    isMain: group.isMain,
    isFolder: group.openFolder !== undefined,
    sessionId,
    agent,
  };
  yield Buffer.from(encodeAgentInput({ ...input, ...(memoryContext === null ? {} : { memoryContext }) }));
}

interface Heard {
  readonly onOutput: (chunk: OutputChunk) => Promise<void>;
  readonly end: () => Promise<Pick<WorkedAgent, "output" | "marked">>;
}

/** Reads what the agent prints as it comes: for its answer, for people, and for the log. */
function listen({ spec, dependencies, listener }: AgentRun, { log }: AgentPlace): Heard {
  const marked = new MarkedOutput(maxAnswerBytes);
  const lines = new LiveLines(isAgentName(spec.agent.name) ? readEventsOf(spec.agent.name) : () => []);
  const output = new BoundedOutput(dependencies.maxOutputBytes);
  const tell = async (text: string): Promise<void> => {
    if (text === "") return;
    const bytes = Buffer.from(text);
    output.append(bytes);
    await listener.onOutput("stdout", bytes);
  };
  return {
    onOutput: async (chunk) => {
      await log.output(chunk);
      if (chunk.stream === "stderr") return listener.onOutput("stderr", chunk.bytes);
      marked.append(chunk.bytes);
      await tell(lines.append(chunk.bytes));
    },
    end: async () => {
      await tell(lines.end());
      return { output, marked: marked.end() };
    },
  };
}

/** Longest line that is read as an event; of a longer one only the length is reported. */
const maxLineLength = 1_048_576;

/**
 * Turns an agent's live output into lines for people: what it says and does, read from its JSON mode; anything but JSON
 * is unchanged. The answer between the markers is left out: it comes with the result.
 */
export class LiveLines {
  readonly #readEvents: ReadAgentEvents;
  readonly #lines = new LineReader(maxLineLength);
  #isAnswer = false;

  constructor(readEvents: ReadAgentEvents) {
    this.#readEvents = readEvents;
  }

  /** Text that these bytes complete; empty if there is nothing worth showing. */
  append(bytes: Uint8Array): string {
    return this.#lines
      .push(bytes)
      .map((line) => this.#shown(line))
      .join("");
  }

  /** The rest of the last line. */
  end(): string {
    return this.#lines
      .end()
      .map((line) => this.#shown(line))
      .join("");
  }

  #shown({ bytes, length, isTooLong }: Line): string {
    const line = bytes.toString("utf8").trimEnd();
    const marker = line.trim();
    if (marker === outputMarkers.start) this.#isAnswer = true;
    if (marker === outputMarkers.end || this.#isAnswer) {
      if (marker === outputMarkers.end) this.#isAnswer = false;
      return "";
    }
    if (isTooLong) return `[a line of ${length} bytes]\n`;
    const event = parseObject(line);
    if (event === null) return line === "" ? "" : `${line}\n`;
    return this.#readEvents(event).map(textOf).join("");
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

const prefixes: Readonly<Record<AgentEvent["kind"], string>> = { says: "", does: "> ", note: "# " };

function textOf({ kind, text }: AgentEvent): string {
  return text === "" ? "" : `${prefixes[kind]}${text}\n`;
}

/** What people are shown of that agent's JSON mode. */
export function readEventsOf(name: AgentName): ReadAgentEvents {
  const { readFacts } = agentTable[name];
  return (line) => readFacts(line).flatMap(eventsOf);
}

function eventsOf(fact: AgentFact): readonly AgentEvent[] {
  switch (fact.kind) {
    case "says":
      return [{ kind: "says", text: fact.text }];
    case "calls":
      return [{ kind: "does", text: [fact.tool, fact.input].filter((part) => part !== "").join(": ") }];
    case "returns":
      return fact.failed ? [{ kind: "note", text: `${fact.tool || "the tool"} failed` }] : [];
    case "note":
      return [{ kind: "note", text: fact.text }];
    case "fails":
      return [{ kind: "note", text: `failed: ${fact.message}` }];
    // The session, the usage and the whole answer come with the result.
    case "session":
    case "usage":
    case "answers":
      return [];
  }
}
