import type { E2bSandbox } from "./e2b-sandbox.ts";
import type { ServerResponse } from "node:http";
import { untilWritable } from "../base/streams/chunks.ts";
import { languageTable } from "../languages/language-table.ts";
import type { RunCodeRequest } from "../operations/session-contract.ts";
import { E2bRefusal } from "./refusal.ts";

/** What is known of a context between its executions. */
interface ContextRecord {
  /** How often it has been asked to run code. */
  count: number;
  /** What its next execution is to tell, because the client of the last one was gone. */
  untold: readonly string[];
}

/** The executions of every sandbox, by their context. */
export class ExecutionBook {
  readonly #ofSandbox = new Map<string, Map<string, ContextRecord>>();

  of({ id, ended }: E2bSandbox, context: string): ContextRecord {
    let records = this.#ofSandbox.get(id);
    if (records === undefined) {
      records = new Map();
      // Of one that has ended nothing is kept.
      if (!ended.aborted) this.#ofSandbox.set(id, records);
      ended.addEventListener("abort", () => this.#ofSandbox.delete(id), { once: true });
    }
    const key = keyOf(context);
    const known = records.get(key) ?? { count: 0, untold: [] };
    records.set(key, known);
    return known;
  }

  /** The context begins anew, or is gone. */
  forget({ id }: E2bSandbox, context: string): void {
    this.#ofSandbox.get(id)?.delete(keyOf(context));
  }
}

/** One line of an execution's answer. */
export type ExecutionEvent = Readonly<{ type: string } & Record<string, unknown>>;

/** Time after which a sign of life goes where nothing else does; E2B's own. */
const keepaliveMs = 5_000;

/**
 * The answer to an execution: an event a line, in JSON, each sent at once. Until it has begun, which it does by itself
 * before a client takes it for lost, the request can still be refused with a status of its own.
 */
export class ExecutionStream {
  readonly #response: ServerResponse;
  readonly #first: ExecutionEvent;
  #keepalive: NodeJS.Timeout | undefined;
  #hasBegun = false;

  /** `first`: comes before every other event. */
  constructor(response: ServerResponse, first: ExecutionEvent) {
    this.#response = response;
    this.#first = first;
    response.once("close", () => clearTimeout(this.#keepalive));
    this.#keepaliveLater();
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Sends the head and the first event: from now on the client's own time for the execution counts. */
  async begin(): Promise<void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#response.destroyed) return;
    this.#response.writeHead(200, { "content-type": "application/x-ndjson" });
    await this.send(this.#first);
  }

  /** Resolves when the client takes more, or is gone. */
  async send(event: ExecutionEvent): Promise<void> {
    await this.begin();
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    this.#keepaliveLater();
    // Line ends inside of texts are escaped.
    if (!response.write(`${JSON.stringify(event)}\n`)) await untilWritable(response);
  }

  async end(): Promise<void> {
    await this.send({ type: "end_of_execution" });
    clearTimeout(this.#keepalive);
    if (!this.#response.destroyed) this.#response.end();
  }

  /** It gets no events: its request is refused otherwise, or its sandbox is gone. */
  stop(): void {
    clearTimeout(this.#keepalive);
  }

  #keepaliveLater(): void {
    clearTimeout(this.#keepalive);
    this.#keepalive = setTimeout(() => {
      // A client that does not read needs no sign of life.
      if (this.#response.writableNeedDrain) this.#keepaliveLater();
      else void this.send({ type: "keepalive" });
    }, keepaliveMs).unref();
  }
}

type Language = NonNullable<RunCodeRequest["language"]>;

/** What code of a sandbox can be written in. */
export type InterpreterLanguage = Language | "bash";

/** What clients may call each language. */
const languages: ReadonlyMap<string, InterpreterLanguage> = new Map([
  ...languageTable.flatMap(({ name, shortNames }) =>
    [name, ...shortNames].map((each) => [each, name as Language] as const),
  ),
  ["bash", "bash"] as const,
]);

/** The language of that name; none: Python. @throws E2bRefusal 400 for one that has no interpreter here */
export function findLanguage(asked = "python"): InterpreterLanguage {
  const name = asked.trim().toLowerCase();
  const found = languages.get(name);
  if (found !== undefined) return found;
  const shown = JSON.stringify(asked.slice(0, 40));
  throw new E2bRefusal(400, `language: expected ${[...languages.keys()].join(", ")}, got ${shown}`);
}

/** The context of Bash; others of it have names that begin so. */
export const bashContext = "bash";

/** Whether the shell of the context's interpreter runs its code. */
export function isBash(context: string): boolean {
  return context === bashContext || context.startsWith(`${bashContext}-`);
}

/** The code as its interpreter takes it: that of Python keeps the shell that runs Bash. */
export function inInterpreter(
  language: InterpreterLanguage,
  code: string,
): Pick<RunCodeRequest, "language" | "packages" | "code"> {
  return language === "bash" ? { language: "python", code: `%%bash\n${code}`, packages: [] } : { language, code };
}

/** JavaScript without a context runs in that of Bun, or of Node if the image has no Bun. */
function keyOf(context: string): string {
  return context === "node" ? "bun" : context;
}
