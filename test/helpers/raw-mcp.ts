import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { gloveboxCommand } from "./glovebox-command.ts";
import { gloveboxEnvironment } from "./mcp-client.ts";

/** A JSON-RPC message as it arrived. */
export interface RawMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

/** `glovebox mcp` with its streams controlled by the test. */
export class RawMcp {
  readonly child: ChildProcessWithoutNullStreams;
  /** Messages that have not been taken yet. */
  readonly messages: RawMessage[] = [];
  readonly ended: Promise<number | null>;
  #heard = Promise.withResolvers<void>();

  constructor(argv: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
    this.child = spawn(gloveboxCommand, ["mcp", ...argv], {
      env: gloveboxEnvironment(environment),
    });
    this.child.stderr.pipe(process.stderr);
    this.child.stdin.on("error", () => {
      // It may end while the test writes.
    });
    // Anything on stdout that is not JSON fails the test here.
    createInterface(this.child.stdout).on("line", (line) => {
      this.messages.push(JSON.parse(line) as RawMessage);
      this.#heard.resolve();
      this.#heard = Promise.withResolvers();
    });
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
  }

  /** Writes the text as it is: no line end is added. */
  write(text: string | Uint8Array): void {
    this.child.stdin.write(text);
  }

  send(...messages: readonly unknown[]): void {
    for (const message of messages) this.write(`${JSON.stringify(message)}\n`);
  }

  /** Sends a request and waits for its answer. */
  async request(id: number | string, method: string, params?: unknown): Promise<RawMessage> {
    this.send({ jsonrpc: "2.0", id, method, params });
    return this.answer((message) => message.id === id && message.method === undefined);
  }

  initialize(): Promise<RawMessage> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    return this.request("init", "initialize", params);
  }

  /** Takes the first message that fits, among those that have arrived and those that will. */
  async answer(fits: (message: RawMessage) => boolean): Promise<RawMessage> {
    for (;;) {
      const index = this.messages.findIndex(fits);
      const [found] = index === -1 ? [] : this.messages.splice(index, 1);
      if (found !== undefined) return found;
      await Promise.race([
        this.#heard.promise,
        this.ended.then((code) => {
          throw new Error(`glovebox mcp ended with ${code} before it answered.`);
        }),
      ]);
    }
  }
}
