import { once } from "node:events";
import { posix } from "node:path";
import { mebibyte } from "../../../base/bytes.ts";
import { readFileContract, type ReadFileResponse } from "../../../operations/files/files-contract.ts";
import type { E2bContext } from "../../e2b-context.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { E2bSandbox } from "../../sandboxes/e2b-sandbox.ts";
import { inE2bWords } from "./file-errors.ts";
import { absoluteInside } from "./inside-path.ts";

/** What is read at once; it is held as text and as bytes. */
const pageBytes = mebibyte;
const heldBytes = 3 * pageBytes;

/** Sends a file of a sandbox, page by page, so that a slow reader holds one page. @throws E2bRefusal, CAPACITY */
export async function sendFile(
  { platform, inFlight }: E2bContext,
  exchange: Exchange,
  sandbox: E2bSandbox,
): Promise<void> {
  const { query, response, signal } = exchange;
  const path = absoluteInside(query.get("path") ?? "");
  const { principal } = sandbox.caller;
  const held = inFlight.hold(principal, heldBytes);
  response.once("close", () => held.release());
  const read = (offset: number): Promise<ReadFileResponse> =>
    platform.call(
      readFileContract,
      { session_id: sandbox.sessionId, path, encoding: "base64", offset, limit: pageBytes },
      { principal, signal },
    );
  const first = await read(0).catch((error: unknown) => {
    throw inE2bWords(error, path);
  });
  const size = first.size_bytes;
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-length": String(size),
    "content-disposition": `inline; filename*=UTF-8''${encodeURIComponent(posix.basename(path).toWellFormed())}`,
    "x-content-type-options": "nosniff",
  });
  let sent = 0;
  let page = Buffer.from(first.content, "base64");
  for (;;) {
    // A program may change the file meanwhile: never more than was announced.
    page = page.subarray(0, size - sent);
    sent += page.length;
    if (!response.write(page)) await once(response, "drain", { signal });
    if (sent >= size) break;
    const next = await read(sent);
    page = Buffer.from(next.content, "base64");
    if (page.length === 0) throw new Error("The file became shorter while it was read.");
  }
  response.end();
}
