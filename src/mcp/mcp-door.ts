import type { McpServer } from "@modelcontextprotocol/server";
import type { OperationRow } from "../operations/operation-row.ts";
import type { Platform } from "../platform/platform.ts";
import type { ToolDesk } from "./call-tool.ts";
import { KeptTexts } from "./kept-texts.ts";
import { createMcpServer } from "./mcp-server.ts";
import { RunningCalls } from "./running-calls.ts";

export interface McpDoorOptions {
  readonly platform: Platform;
  /** Its rows that have a tool form are offered. */
  readonly table: readonly OperationRow[];
  /** Of Glovebox. */
  readonly version: string;
  /** A call that takes longer is answered with its id, and goes on. */
  readonly answerWithinMs: number;
}

/** What all connections of one process share: the platform, the calls at work and what answers left out. */
export class McpDoor {
  readonly platform: Platform;
  readonly #desk: ToolDesk;
  readonly #version: string;

  constructor({ platform, table, version, answerWithinMs }: McpDoorOptions) {
    this.platform = platform;
    this.#version = version;
    this.#desk = {
      platform,
      rows: table.filter(({ tool }) => tool !== undefined),
      calls: new RunningCalls(platform.monotonicMs),
      texts: new KeptTexts(platform.monotonicMs),
      answerWithinMs,
    };
  }

  /** A server for one connection, or for one stateless request; everything that it does is the principal's. */
  createServer(principal: string, connection?: string): McpServer {
    return createMcpServer({ desk: this.#desk, principal, connection, version: this.#version });
  }

  /** Ends the session that belongs to a connection which has ended. */
  async endConnection(principal: string, connection: string): Promise<void> {
    try {
      await this.platform.sessions.endConnection({ principal, connection });
    } catch (error) {
      this.platform.logger.error({ err: error }, "the session of a connection could not be removed");
    }
  }

  /** Ends the calls at work, whose callers are told so; no other begins. */
  endCalls(): Promise<void> {
    return this.#desk.calls.close();
  }

  /** Ends the calls at work and removes every sandbox. */
  async close(): Promise<void> {
    await this.endCalls();
    await this.platform.close();
  }
}
