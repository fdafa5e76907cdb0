import type { Logger } from "../base/logger.ts";
import { toGloveboxError } from "../errors/glovebox-error.ts";
import type { LiveConnection } from "../live/live-connection.ts";
import type { CallOperation } from "../operations/contract/operation-call.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";

export interface ServeCall {
  /** Runs operations on the sandboxes of this process. */
  readonly call: CallOperation;
  readonly logger: Logger;
}

/** Code of WebSocket. */
const refused = 1008;
/** This machine's user, as everywhere. */
const principal = "local";

/**
 * Serves one call of another process, until nothing of it is left; if the connection ends, so does what it started.
 * Never rejects.
 */
export async function serveCall(
  connection: LiveConnection,
  contract: OperationContract,
  { call, logger }: ServeCall,
): Promise<void> {
  try {
    const start = await connection.started();
    if (start === null) return connection.close(refused, "expected start as the first message");
    const request = parseRequest(contract, start.request);
    // Operations that only read are requested each second.
    const level = contract.channel === undefined ? "debug" : "info";
    logger[level]({ operation: contract.name }, "another process of this user asks");
    const { streams, gone: signal, tell: onEvent } = connection;
    const answer = await call(contract, request, { ...streams, principal, isOperator: true, signal, onEvent });
    connection.end({ body: JSON.stringify(answer), isError: false });
  } catch (error) {
    const known = toGloveboxError(error);
    if (known.errorType === "INTERNAL") logger.error({ err: error }, "a call of another process failed");
    connection.end({ body: JSON.stringify(known.toWire()), isError: true });
  }
}
