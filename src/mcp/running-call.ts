import type { CallToolResult } from "@modelcontextprotocol/server";
import { createId } from "../base/id.ts";
import { toGloveboxError, type GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationEvent } from "../operations/operation.ts";
import type { OperationRow } from "../operations/operation-row.ts";
import type { Platform } from "../platform/platform.ts";
import { RecentOutput } from "./recent-output.ts";

/** How a call ended: with the operation's response, or because the platform failed or refused. */
export type CallEnd = { readonly response: unknown } | { readonly error: GloveboxError };

/** Newest output that is kept of each stream for those who ask before the end. */
const recentOutputBytes = 4096;

export interface RunningCallOptions {
  readonly row: OperationRow;
  /** Checked by the operation's schema. */
  readonly request: Record<string, unknown>;
  readonly principal: string;
  readonly connection: string | undefined;
  readonly platform: Platform;
  /** Makes the tool's answer of the end, at once: a whole response may be large. */
  readonly conclude: (end: CallEnd, call: RunningCall) => CallToolResult;
}

/** An operation at work, with what it has told so far. */
export class RunningCall {
  readonly id: string = createId("run");
  readonly row: OperationRow;
  readonly principal: string;
  readonly stdout: RecentOutput = new RecentOutput(recentOutputBytes);
  readonly stderr: RecentOutput = new RecentOutput(recentOutputBytes);
  /** Resolves when the operation has ended and left nothing behind. */
  readonly ended: Promise<CallToolResult>;
  /** Called at each event but output. */
  onNews: (() => void) | null = null;
  readonly #monotonicMs: () => number;
  readonly #startedMs: number;
  readonly #giveUp = new AbortController();
  #sandboxId: string | null = null;
  #message: string | null = null;

  constructor({ row, request, principal, connection, platform, conclude }: RunningCallOptions) {
    this.row = row;
    this.principal = principal;
    this.#monotonicMs = platform.monotonicMs;
    this.#startedMs = platform.monotonicMs();
    const onEvent = (event: OperationEvent): void => this.#hear(event);
    this.ended = row.operation
      .run(platform, request, { principal, connection, signal: this.#giveUp.signal, onEvent })
      .then((response) => conclude({ response }, this))
      .catch((error: unknown) => {
        const known = toGloveboxError(error);
        if (known.errorType === "INTERNAL") platform.logger.error({ err: known.cause ?? known }, "a tool call failed");
        return conclude({ error: known }, this);
      });
  }

  get elapsedMs(): number {
    return this.#monotonicMs() - this.#startedMs;
  }

  /** The sandbox that works for it, once there is one. */
  get sandboxId(): string | null {
    return this.#sandboxId;
  }

  /** What it said of its progress last. */
  get message(): string | null {
    return this.#message;
  }

  /** Ends the work; `ended` resolves when it is gone. */
  cancel(): void {
    this.#giveUp.abort();
  }

  #hear(event: OperationEvent): void {
    if (event.type === "output") return this[event.stream].append(event.bytes);
    if (event.type === "sandbox") this.#sandboxId = event.sandboxId;
    else if (event.type === "denied") this.#message = `Refused a connection to ${event.denial.target}`;
    else if (event.type !== "terminal") this.#message = event.message;
    this.onNews?.();
  }
}
