import type { McpServer } from "@modelcontextprotocol/server";
import { settlesWithin } from "../base/abort.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import type { Platform } from "../platform/platform.ts";
import type { ToolContext } from "./tools/call-tool.ts";
import { offeredTools } from "./tools/offered-tool.ts";
import { toolDeployment } from "./tools/schemas/tool-deployment.ts";
import { viewArtifactTool } from "./tools/view-artifact.ts";
import { isInProfile, type ToolProfile } from "./tools/tool-profiles.ts";
import { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { KeptTexts } from "../calls/kept-texts.ts";
import { createMcpServer } from "./mcp-server.ts";
import { Tasks } from "./tasks/tasks.ts";
import { sizeOfAnswer } from "./tools/tool-result.ts";
import { RunningCalls } from "../calls/running-calls.ts";

export interface McpDoorOptions {
  readonly platform: Platform;
  /** Those that are open to every principal and have a tool form are offered. */
  readonly operations: readonly OperationContract[];
  /** Which of them; default: all. */
  readonly profiles?: readonly ToolProfile[] | undefined;
  /** Version of Glovebox. */
  readonly version: string;
  /** A call that takes longer is answered with its id, and continues. */
  readonly answerWithinMs: number;
}

/** Total size of the answers kept for one principal. */
const maxAnswersCharacters = 64_000_000;
/** Of those kept for all principals together: many keys must not fill the server's memory. */
const maxTotalCharacters = 128_000_000;
/** How long cancelled calls may take to end before their sandboxes are removed by force. */
export const lastCallsMs = 4_000;
/** Time for shutting down, from the first step on; a second of the ten that it may take is left to the process. */
const endWithinMs = 9_000;

/** What all connections of one process share: the platform, the running calls and what answers left out. */
export class McpDoor {
  readonly platform: Platform;
  /** What callers may have on its way; a server shares it with its other doors. */
  readonly inFlight: BytesInFlight = new BytesInFlight();
  readonly #tools: ToolContext;
  readonly #version: string;
  #ending: { readonly calls: Promise<unknown>; readonly sinceMs: number } | undefined;

  constructor({ platform, operations, profiles = ["all"], version, answerWithinMs }: McpDoorOptions) {
    this.platform = platform;
    this.#version = version;
    const { call, alertBook, logger, monotonicMs, now } = platform;
    this.#tools = {
      offered: offeredTools(operations, profiles),
      viewsArtifacts: isInProfile(viewArtifactTool.name, profiles),
      callOperation: call,
      alertBook,
      calls: new RunningCalls(monotonicMs, {
        sizeOf: sizeOfAnswer,
        maxSize: maxAnswersCharacters,
        maxTotalSize: maxTotalCharacters,
      }),
      inFlight: this.inFlight,
      tasks: new Tasks(now),
      texts: new KeptTexts(monotonicMs),
      logger,
      monotonicMs,
      answerWithinMs,
    };
  }

  /** A server for one connection, or for one stateless request; everything that it creates belongs to the principal. */
  createServer(principal: string, connection?: string): McpServer {
    return createMcpServer({
      tools: this.#tools,
      timing: this.platform,
      deployment: toolDeployment(this.platform),
      principal,
      connection,
      version: this.#version,
    });
  }

  /** Ends the session of a closed connection. */
  async endConnection(principal: string, connection: string): Promise<void> {
    try {
      await this.platform.sessions.endConnection({ principal, connection });
    } catch (error) {
      this.platform.logger.error({ err: error }, "the session of a connection could not be removed");
    }
  }

  /** Ends the calls of a principal; their callers are notified. */
  cancelCalls(principal: string): void {
    this.#tools.calls.cancelAll(principal);
  }

  /** Refuses new calls, and waits at most this long for the running ones to end. */
  drainCalls(withinMs: number): Promise<void> {
    return this.#tools.calls.drain(withinMs);
  }

  /** Ends the running calls within 4 s, notifies their callers, and refuses new ones. */
  async endCalls(): Promise<void> {
    this.#ending ??= { sinceMs: this.platform.monotonicMs(), calls: this.#tools.calls.close() };
    await settlesWithin(this.#ending.calls, Math.max(0, lastCallsMs - this.#endingForMs));
  }

  /**
   * Ends the running calls and removes every sandbox, within 9 s of the first `endCalls` whatever the engines do.
   * Resolves to the ids of what may be left, which are also logged.
   */
  async close(): Promise<readonly string[]> {
    await this.endCalls();
    return this.platform.close(Math.max(0, endWithinMs - this.#endingForMs));
  }

  get #endingForMs(): number {
    return this.platform.monotonicMs() - (this.#ending?.sinceMs ?? 0);
  }
}
