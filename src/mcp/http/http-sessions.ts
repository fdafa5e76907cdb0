import { WebStandardStreamableHTTPServerTransport, type McpServer } from "@modelcontextprotocol/server";
import { createId } from "../../base/id.ts";

/** Maximum sessions; beyond that, the one that was idle longest ends. */
const maxSessions = 256;
/** A session ends after this long without use. */
const maxIdleMs = 30 * 60_000;

interface Session {
  readonly principal: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsedMs: number;
}

export interface HttpSessionsOptions {
  readonly createServer: (principal: string, connection: string) => McpServer;
  readonly onEnd: (principal: string, connection: string) => void;
  readonly monotonicMs: () => number;
  readonly maxRequestBytes: number;
}

/** Protocol sessions of clients that speak 2025-11-25: begun by `initialize`, ended by DELETE. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  /** Answers the `initialize` request that begins a session. */
  async open(principal: string, request: Request, parsedBody: unknown): Promise<Response> {
    await this.#endIdle();
    const { createServer, monotonicMs, maxRequestBytes, onEnd } = this.#options;
    const connection = createId("mcp");
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => connection,
      maxRequestBodySize: maxRequestBytes,
      onsessioninitialized: (id) => void this.#sessions.set(id, { principal, transport, lastUsedMs: monotonicMs() }),
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
        onEnd(principal, id);
      },
    });
    await createServer(principal, connection).connect(transport);
    return transport.handleRequest(request, { parsedBody });
  }

  /** Answers a request that names its session; other principals' sessions are treated as unknown. */
  handle(id: string, principal: string, request: Request): Promise<Response> | Response {
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal !== principal) {
      const error = { code: -32_001, message: "Session not found: it has ended. Start a new one with initialize." };
      return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
    }
    session.lastUsedMs = this.#options.monotonicMs();
    return session.transport.handleRequest(request);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  async #endIdle(): Promise<void> {
    const usedBefore = this.#options.monotonicMs() - maxIdleMs;
    const byUse = [...this.#sessions].toSorted(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
    const surplus = byUse.length - maxSessions + 1;
    const ending = byUse.filter(([, { lastUsedMs }], index) => lastUsedMs < usedBefore || index < surplus);
    await Promise.all(ending.map(([id]) => this.#end(id)));
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.transport.close();
    if (session !== undefined) this.#options.onEnd(session.principal, id);
  }
}
