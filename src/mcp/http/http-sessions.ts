import { WebStandardStreamableHTTPServerTransport, type McpServer } from "@modelcontextprotocol/server";
import { createId } from "../../base/id.ts";

/** Maximum sessions of one principal; beyond that, its own that was idle longest ends. */
const maxOfOne = 128;
/** Maximum of all; beyond that, the principal that has most loses its own that was idle longest. */
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
    const { createServer, monotonicMs, onEnd } = this.#options;
    const connection = createId("mcp");
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => connection,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, { principal, transport, lastUsedMs: monotonicMs() });
        void this.#endSurplus(principal);
      },
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
        onEnd(principal, id);
      },
    });
    await createServer(principal, connection).connect(transport);
    return transport.handleRequest(request, { parsedBody });
  }

  /** Answers a request that names its session; other principals' sessions are treated as unknown. */
  handle(
    id: string,
    principal: string,
    { request, body }: { readonly request: Request; readonly body: unknown },
  ): Promise<Response> | Response {
    const session = this.#sessions.get(id);
    if (session === undefined || session.principal !== principal) {
      const error = { code: -32_001, message: "Session not found: it has ended. Start a new one with initialize." };
      return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
    }
    session.lastUsedMs = this.#options.monotonicMs();
    return session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  async #endIdle(): Promise<void> {
    const usedBefore = this.#options.monotonicMs() - maxIdleMs;
    const ending = [...this.#sessions].filter(([, { lastUsedMs }]) => lastUsedMs < usedBefore);
    await Promise.all(ending.map(([id]) => this.#end(id)));
  }

  /** Ends one session if the newest of the principal is one too many. */
  async #endSurplus(newest: string): Promise<void> {
    const counts = new Map<string, number>();
    for (const { principal } of this.#sessions.values()) counts.set(principal, (counts.get(principal) ?? 0) + 1);
    const own = counts.get(newest) ?? 0;
    if (own <= maxOfOne && this.#sessions.size <= maxSessions) return;
    // Who has as many as the newest's principal keeps them.
    let loser = newest;
    let most = own;
    for (const [principal, count] of own > maxOfOne ? [] : counts) {
      if (count <= most) continue;
      loser = principal;
      most = count;
    }
    const ofLoser = [...this.#sessions].filter(([, { principal }]) => principal === loser);
    const [longestIdle] = ofLoser.toSorted(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
    if (longestIdle !== undefined) await this.#end(longestIdle[0]);
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.transport.close();
    if (session !== undefined) this.#options.onEnd(session.principal, id);
  }
}
