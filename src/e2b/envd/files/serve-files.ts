import { posix } from "node:path";
import { dropBody } from "../../../base/http/read-body.ts";
import { uploadFileContract } from "../../../operations/files/bytes-contract.ts";
import type { E2bContext } from "../../e2b-context.ts";
import { sendJson, type Exchange } from "../../http/exchange.ts";
import { E2bRefusal } from "../../http/refusal.ts";
import type { E2bSandbox, SandboxTarget } from "../../sandboxes/e2b-sandbox.ts";
import { liveTarget } from "../gateway.ts";
import { sandboxOfFile } from "./file-access.ts";
import { inE2bWords } from "./file-errors.ts";
import { absoluteInside } from "./inside-path.ts";
import { readUpload } from "./read-upload.ts";
import { sendFile } from "./send-file.ts";
import { attributesAsked, setAttributes } from "./upload-attributes.ts";

/** `/files`: reads and writes files of a sandbox; `named`: the one in the headers, if any. @throws E2bRefusal, CAPACITY */
export async function serveFiles(context: E2bContext, exchange: Exchange, named: E2bSandbox | null): Promise<void> {
  const { method } = exchange.request;
  if (method !== "GET" && method !== "POST") throw new E2bRefusal(405, `method: expected GET or POST, got ${method}`);
  const sandbox = sandboxOfFile(context, exchange, named);
  context.admit(exchange, sandbox.caller);
  const target = await liveTarget(context, exchange, sandbox);
  return method === "GET" ? sendFile(context, exchange, sandbox) : takeUpload(context, exchange, target);
}

async function takeUpload(context: E2bContext, exchange: Exchange, target: SandboxTarget): Promise<void> {
  const { platform, inFlight } = context;
  const { request, response, signal } = exchange;
  const { sandbox } = target;
  const metadata = attributesAsked(request.headers);
  const { principal } = sandbox.caller;
  const sent = await readUpload(exchange, inFlight, principal);
  const files = sent.map((file) => ({ ...file, path: absoluteInside(file.path) }));
  const paths = new Set(files.map(({ path }) => path));
  if (paths.size < files.length) throw new E2bRefusal(400, "body: expected each path once");
  for (const { path, sizeBytes, chunks } of files) {
    const size = sizeBytes === null ? {} : { size_bytes: sizeBytes };
    const asked = { session_id: sandbox.sessionId, path, ...size };
    try {
      await platform.call(uploadFileContract, asked, { principal, signal, stdin: chunks });
    } catch (error) {
      // Closed on unread bytes, its client would lose the answer.
      await dropBody(request);
      throw inE2bWords(error, path);
    }
    await setAttributes({ context, exchange, target }, path, metadata);
  }
  const shown = Object.keys(metadata).length > 0 ? { metadata } : {};
  sendJson(
    response,
    200,
    files.map(({ path }) => ({ path, name: posix.basename(path), type: "file", ...shown })),
  );
}
