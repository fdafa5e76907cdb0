import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createId } from "../../base/id.ts";
import { lastCallsMs, type McpDoor } from "../mcp-door.ts";
import { StdioTransport } from "./stdio-transport.ts";

export interface StdioOptions {
  readonly input: Readable;
  /** Carries only the protocol. */
  readonly output: Writable;
  /** Whose machine it is. */
  readonly principal: string;
  /** Ends the service, like the end of the input. */
  readonly signal: AbortSignal;
}

/**
 * Serves one client until it hangs up or the signal aborts; then the work is ended and outstanding answers are written.
 */
export async function serveOverStdio(door: McpDoor, { input, output, principal, signal }: StdioOptions): Promise<void> {
  const { logger } = door.platform;
  const transport = new StdioTransport({
    input,
    output,
    onInputEnd: () => void door.endCalls(),
    lastAnswersMs: lastCallsMs,
  });
  const connection = createId("con");
  const handle = serveStdio(() => door.createServer(principal, connection), {
    transport,
    onerror: (error) => logger.debug({ err: error }, "mcp"),
  });
  const onAbort = (): void => void transport.finish();
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  await transport.closed;
  signal.removeEventListener("abort", onAbort);
  await handle.close();
}
