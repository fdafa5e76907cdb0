import type { AgentFact, ReadFacts } from "./commands/agent-program.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { LineReader, type Line } from "../../base/streams/line-reader.ts";
import { RingOutput } from "../../base/streams/collected-bytes.ts";
import type { AgentOutput } from "./agent-protocol.ts";
import { parseJsonObject, type JsonObject } from "./commands/json-fields.ts";
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { agentPaths } from "./agent-container.ts";
import type { RunnerInput } from "./runner-input.ts";

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
interface Work {
  readonly title: string;
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** What it reads from its standard input. */
  readonly input: string;
  readonly readFacts: ReadFacts;
}

interface WorkOutput {
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

/** A file that tells an agent about its group. */
interface WorkspaceFile {
  readonly path: string;
  readonly text: string;
  /** Whether the file is longer than the text. */
  readonly isCut: boolean;
}

/** Files that are read if they exist: who the agent is, whom it works for, what it knows. */
const names = ["SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "MEMORY.md", "TODOS.md"];
/** Limits for each file, and for all together. */
const maxFileBytes = 16_384;
const maxTotalBytes = 49_152;

/**
 * Reads those of the files that exist in the folders, in order. Groups write them, so anything may have such a name:
 * only plain files are read, and no link is followed.
 */
export async function readWorkspaceFiles(folders: readonly string[]): Promise<readonly WorkspaceFile[]> {
  const files: WorkspaceFile[] = [];
  let left = maxTotalBytes;
  for (const place of folders.flatMap((folder) => names.map((name) => path.posix.join(folder, name)))) {
    const content = await readStart(place, Math.min(maxFileBytes, left) + 1);
    if (content === null || content.length === 0 || left === 0) continue;
    const kept = content.subarray(0, Math.min(maxFileBytes, left));
    left -= kept.length;
    files.push({ path: place, text: kept.toString("utf8"), isCut: kept.length < content.length });
  }
  return files;
}

/** Which of a group's possible folders exist. */
interface PresentFolders {
  readonly project: boolean;
  readonly global: boolean;
  readonly farmState: boolean;
  readonly dashboard: boolean;
}

/** What an agent is told in addition to its prompt: where it is, what it may do, what it knows. */
export function instructionsFor(
  input: Pick<RunnerInput, "group" | "isMain" | "isFolder" | "memoryContext">,
  folders: PresentFolders,
  files: readonly WorkspaceFile[],
): string {
  const { memoryContext, isFolder = false } = input;
  const parts = [
    `You work ${forWhom(input)} in a sealed container. What you say last is ${isFolder ? "your answer" : "sent to the group"}.`,
    `## Folders\n\n${folderLines(folders, isFolder).join("\n")}`,
    [
      "## Limits",
      "",
      `- There is no network but what ${isFolder ? "you were given" : "this group may reach"}; a refused connection is a rule, not a fault to work around.`,
      ...(isFolder
        ? [
            "- Files that tools of the folder's owner run by themselves, such as .git/hooks and .vscode, cannot be changed.",
          ]
        : []),
      "- Everything outside these folders is gone when you are done.",
      "- Values of keys and tokens in the environment are secrets: never print, write or send them.",
    ].join("\n"),
    ...files.map(fileSection),
    ...(memoryContext === null ? [] : [`## From the group's memory\n\n${memoryContext.trim()}`]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function forWhom({ group, isMain, isFolder }: Pick<RunnerInput, "group" | "isMain" | "isFolder">): string {
  if (isFolder === true) return "in the folder of one person,";
  const who = group === "" ? "a group of people" : `the group ${JSON.stringify(group)}`;
  return `for ${who}${isMain ? ", the main group," : ""}`;
}

function folderLines({ project, global, farmState, dashboard }: PresentFolders, isFolder: boolean): readonly string[] {
  return [
    `- ${agentPaths.group}: ${isFolder ? "the project" : "the group's own files"}; you start here and may change ${isFolder ? "it" : "them"}.`,
    ...(project ? [`- ${agentPaths.project}: the project, which you may change.`] : []),
    ...(global ? [`- ${agentPaths.global}: what all groups share; read only.`] : []),
    `- ${agentPaths.ipc}: files for the program that started you.`,
    ...(farmState ? [`- ${agentPaths.farmState}: the state of the farm.`] : []),
    ...(dashboard ? [`- ${agentPaths.dashboard}: the dashboard.`] : []),
  ];
}

function fileSection({ path, text, isCut }: WorkspaceFile): string {
  return `## ${path}\n\n${text.trim()}${isCut ? `\n\n(It goes on in the file.)` : ""}`;
}

async function readStart(place: string, bytes: number): Promise<Buffer | null> {
  let file: FileHandle | null = null;
  try {
    // Does not block on a FIFO.
    file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return null;
  } finally {
    await file?.close();
  }
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
