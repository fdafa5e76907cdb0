import { StringDecoder } from "node:string_decoder";
import type { AgentEvent, ReadAgentEvents } from "../agent-protocol.ts";
import { outputMarkers } from "../agent-container.ts";

/** Longest line that is read as an event; of a longer one only the length is reported. */
const maxLineLength = 1_048_576;

/**
 * Turns an agent's live output into lines for people: what it says and does, read from its JSON mode; anything but JSON
 * is unchanged. The answer between the markers is left out: it comes with the result.
 */
export class LiveLines {
  readonly #readEvents: ReadAgentEvents;
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  /** Characters of a line that is too long, counted. */
  #tooLong = 0;
  #isAnswer = false;

  constructor(readEvents: ReadAgentEvents) {
    this.#readEvents = readEvents;
  }

  /** Text that these bytes complete; empty if there is nothing worth showing. */
  append(bytes: Uint8Array): string {
    return this.#take(this.#decoder.write(bytes));
  }

  /** The rest of the last line. */
  end(): string {
    return this.#take(`${this.#decoder.end()}\n`);
  }

  #take(text: string): string {
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    const told = parts.map((part) => {
      this.#extend(part);
      return this.#endLine();
    });
    this.#extend(rest);
    return told.join("");
  }

  #extend(part: string): void {
    if (this.#line.length + part.length > maxLineLength) this.#tooLong += part.length;
    else this.#line += part;
  }

  #endLine(): string {
    const line = this.#line.trimEnd();
    const length = this.#line.length + this.#tooLong;
    const isTooLong = this.#tooLong > 0;
    this.#line = "";
    this.#tooLong = 0;
    const marker = line.trim();
    if (marker === outputMarkers.start) this.#isAnswer = true;
    if (marker === outputMarkers.end || this.#isAnswer) {
      if (marker === outputMarkers.end) this.#isAnswer = false;
      return "";
    }
    if (isTooLong) return `[a line of ${length} characters]\n`;
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
