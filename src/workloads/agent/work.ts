import type { AgentFact, ReadFacts } from "./commands/agent-fact.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { LineReader, type Line } from "../../base/streams/line-reader.ts";
import { RingOutput } from "../../base/streams/collected-bytes.ts";
import type { AgentOutput } from "./agent-protocol.ts";
import { parseJsonObject, type JsonObject } from "./commands/json-fields.ts";

/** Maximum length of an answer and a message, in characters: they are held in memory and end up in one line of JSON. */
const maxTextLength = 4_000_000;

/** The state of a run so far, according to its agent. */
export class AgentProgress {
  #sessionId: string | null = null;
  #said = "";
  #answer: string | null = null;
  #failure: string | null = null;

  add(facts: readonly AgentFact[]): void {
    for (const fact of facts) this.#addOne(fact);
  }

  /** The agent's own name for the conversation; null until it reports one. */
  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Its final answer; null if it said nothing. */
  get answer(): string | null {
    const text = this.#answer ?? this.#said;
    return text === "" ? null : text;
  }

  /** Why it failed; null if it did not, or continued afterwards. */
  get failure(): string | null {
    return this.#failure;
  }

  #addOne(fact: AgentFact): void {
    if (fact.kind === "session") this.#sessionId = fact.id;
    else if (fact.kind === "says") {
      this.#said = `${fact.continues === true ? this.#said : ""}${fact.text}`.slice(0, maxTextLength);
      this.#failure = null;
    } else if (fact.kind === "answers") {
      this.#answer = fact.text.slice(0, maxTextLength);
      this.#failure = null;
    } else if (fact.kind === "fails") this.#failure = fact.message.slice(0, maxTextLength);
    // What it says after a tool does not continue what it said before.
    else if (fact.kind === "calls") this.#said = "";
  }
}

/** An agent to start. */
export interface Work {
  readonly title: string;
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** What it reads from its standard input. */
  readonly input: string;
  readonly readFacts: ReadFacts;
}

export interface WorkOutput {
  /** Lines of the agent's JSON mode, as it wrote them. */
  readonly onLine: (line: Buffer) => void;
  /** Its messages for people. */
  readonly onError: (bytes: Uint8Array) => void;
  /** Called with the process, which may be ended from outside. */
  readonly onStart: (child: ChildProcess) => void;
}

/** Processes that it started may keep its output open after its end; its own output has been read by then. */
const drainMs = 1_000;

/** How much of the end of standard error is used to explain a failure. */
const toldErrorBytes = 2_048;

/** Runs the agent to its end. Resolves to the answer, however the agent ended. */
export async function work(
  { title, command, variables, folder, input, readFacts }: Work,
  { onLine, onError, onStart }: WorkOutput,
): Promise<AgentOutput> {
  const [program = "", ...parameters] = command;
  const progress = new AgentProgress();
  const lastWords = new RingOutput(toldErrorBytes);
  const lines = new JsonLines({
    onObject: (object, line) => {
      progress.add(readFacts(object));
      onLine(line);
    },
    onOther: (text) => onError(Buffer.from(`${text}\n`)),
  });
  const child = spawn(program, parameters, { cwd: folder, env: variables, stdio: ["pipe", "pipe", "pipe"] });
  onStart(child);
  child.stdout.on("data", (chunk: Buffer) => lines.append(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    lastWords.append(chunk);
    onError(chunk);
  });
  // If it ends without reading its input, its exit shows the reason.
  child.stdin.on("error", () => undefined).end(input);
  const ending = await endOf(child);
  lines.end();
  return conclude(title, { progress, ending, lastWords: lastWords.text().trim() });
}

interface Conclusion {
  readonly progress: AgentProgress;
  /** Null if it succeeded. */
  readonly ending: string | null;
  readonly lastWords: string;
}

function conclude(title: string, { progress, ending, lastWords }: Conclusion): AgentOutput {
  const session = progress.sessionId === null ? {} : { newSessionId: progress.sessionId };
  if (progress.failure !== null) {
    return { status: "error", result: progress.answer, ...session, error: `${title}: ${progress.failure}` };
  }
  if (ending !== null) {
    const words = lastWords === "" ? "" : ` Its last words: ${lastWords}`;
    return { status: "error", result: progress.answer, ...session, error: `${title} ${ending}.${words}` };
  }
  return { status: "success", result: progress.answer, ...session };
}

/** How it ended, as a phrase that follows its name; null for success. */
async function endOf(child: ChildProcess): Promise<string | null> {
  const closed = new Promise<void>((resolve) => void child.once("close", resolve));
  const ending = await new Promise<string | null>((resolve) => {
    child.once("error", (error) => resolve(`could not be started: ${error.message}`));
    child.once("exit", (code, signal) => {
      if (signal !== null) resolve(`was ended by ${signal}`);
      else resolve(code === 0 ? null : `ended with exit code ${code}`);
    });
  });
  await Promise.race([closed, setTimeout(drainMs, undefined, { ref: false })]);
  return ending;
}

/** Longest line that is read; of a longer one only the length is reported. */
const maxLineBytes = 33_554_432;

interface LineListener {
  /** A line that is a JSON object, unchanged, without the line feed. */
  readonly onObject: (object: JsonObject, line: Buffer) => void;
  /** Any other line. */
  readonly onOther: (text: string) => void;
}

/** The lines of an agent's output: objects of JSON, and others. */
export class JsonLines {
  readonly #listener: LineListener;
  readonly #lines = new LineReader(maxLineBytes);

  constructor(listener: LineListener) {
    this.#listener = listener;
  }

  append(chunk: Buffer): void {
    for (const line of this.#lines.push(chunk)) this.#tell(line);
  }

  /** Reads the rest after the last line feed. */
  end(): void {
    for (const line of this.#lines.end()) this.#tell(line);
  }

  #tell({ bytes, length, isTooLong }: Line): void {
    if (isTooLong) return this.#listener.onOther(`[a line of ${length} bytes]`);
    const text = bytes.toString("utf8");
    const object = parseJsonObject(text);
    if (object !== null) this.#listener.onObject(object, bytes);
    else if (text.trim() !== "") this.#listener.onOther(text);
  }
}
