import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { chatCompletions } from "./chat-completions.ts";
import { generateContent } from "./generate-content.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import type { Json, ModelApi, ModelRequest, ModelTurn } from "./model-turn.ts";

const apis: readonly ModelApi[] = [chatCompletions, responses, messages, generateContent];

/** A server on loopback that answers agents as their models would, over real HTTP, following a script. */
export class ModelServer {
  readonly #server: Server;
  readonly #script: (request: ModelRequest) => ModelTurn;
  /** All requests, in order. */
  readonly requests: ModelRequest[] = [];
  /** API keys that requests sent, in any header. */
  readonly keys = new Set<string>();

  /** The script decides by what is asked, not by how often: agents also ask for other things (a title) on the way. */
  static async start(script: (request: ModelRequest) => ModelTurn, port = 0): Promise<ModelServer> {
    const server = createServer();
    const model = new ModelServer(server, script);
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return model;
  }

  private constructor(server: Server, script: (request: ModelRequest) => ModelTurn) {
    this.#server = server;
    this.#script = script;
    server.on("request", (request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://model.test");
    const { authorization, "x-api-key": apiKey, "x-goog-api-key": googleKey } = request.headers;
    const keys = [authorization?.replace(/^Bearer /, ""), apiKey, googleKey, searchParams.get("key")];
    for (const key of keys) if (typeof key === "string") this.keys.add(key);
    const body = await text(request);
    const api = apis.find(({ path }) => path.test(pathname));
    if (api === undefined || request.method !== "POST") return void response.writeHead(404).end("{}");
    const parsed = JSON.parse(body) as Json;
    const named = parsed["model"];
    const model = typeof named === "string" ? named : (/models\/([^/:]+)/.exec(pathname)?.[1] ?? "");
    const asked = { api: api.name, model, tools: api.toolNames(parsed), toolResults: api.toolResults(parsed), body };
    this.requests.push(asked);
    const turn = this.#script(asked);
    if (turn.failure !== undefined) {
      response.writeHead(turn.failure.status, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ error: { message: turn.failure.message, type: "invalid_request" } }));
    }
    const events = api.events(turn, model);
    if (pathname.endsWith(":generateContent")) {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify(events[0]?.[1]));
    }
    this.#stream(response, events);
  }

  #stream(response: ServerResponse, events: ReturnType<ModelApi["events"]>): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [name, data] of events) {
      const named = name === null ? "" : `event: ${name}\n`;
      response.write(`${named}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
