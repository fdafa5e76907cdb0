import type { ServerResponse } from "node:http";
import { posix } from "node:path";
import { settlesWithin } from "../../../base/abort.ts";
import { kibibyte } from "../../../base/bytes.ts";
import { untilWritable } from "../../../base/streams/until-writable.ts";
import type { OperationEvent } from "../../../operations/contract/operation-event.ts";
import { downloadFileContract } from "../../../operations/files/bytes-contract.ts";
import type { E2bContext } from "../../e2b-context.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { E2bSandbox } from "../../sandboxes/e2b-sandbox.ts";
import { inE2bWords } from "./file-errors.ts";
import { absoluteInside } from "./inside-path.ts";

/** What a transfer may have on its way. */
const heldBytes = 256 * kibibyte;
/** A reader that takes nothing for this long is considered gone, even if its connection is open. */
const stalledAfterMs = 60_000;

/** Sends a file of a sandbox, of any size, as fast as its reader takes it. @throws E2bRefusal, CAPACITY */
export async function sendFile(
  { platform, inFlight }: E2bContext,
  { query, response, signal }: Exchange,
  { sessionId, caller, ended }: E2bSandbox,
): Promise<void> {
  const path = absoluteInside(query.get("path") ?? "");
  const { principal } = caller;
  const held = inFlight.hold(principal, heldBytes);
  response.once("close", () => held.release());
  let left: number | null = null;
  const call = {
    ...{ principal, signal: AbortSignal.any([signal, ended]) },
    onContent: ({ length }: { readonly length: number | null }) => {
      left = length;
      writeHead(response, path, length);
    },
    onEvent: async (event: OperationEvent) => {
      if (event.type !== "output" || response.destroyed) return;
      // More than was announced would be read as the next answer.
      const bytes = left === null ? event.bytes : event.bytes.subarray(0, left);
      if (left !== null) left -= bytes.length;
      if (!response.write(bytes) && !(await settlesWithin(untilWritable(response), stalledAfterMs))) response.destroy();
    },
  };
  await platform.call(downloadFileContract, { session_id: sessionId, path }, call).catch((error: unknown) => {
    throw inE2bWords(error, path);
  });
  // A program may have cut the file off meanwhile.
  if (left === null || left === 0) response.end();
  else response.destroy();
}

function writeHead(response: ServerResponse, path: string, length: number | null): void {
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    ...(length === null ? {} : { "content-length": String(length) }),
    "content-disposition": `inline; filename*=UTF-8''${encodeURIComponent(posix.basename(path).toWellFormed())}`,
    "x-content-type-options": "nosniff",
  });
}
