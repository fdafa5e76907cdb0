import { posix } from "node:path";
import { dropBody } from "../../base/http/read-body.ts";
import { uploadFileContract, downloadFileContract } from "../../operations/files-contract.ts";
import { liveTarget, runInside, type E2bContext, type RpcCall } from "../e2b-request.ts";
import { sendJson, readWhole, type Exchange } from "../exchange.ts";
import { E2bRefusal } from "../refusal.ts";
import { absoluteInside, type E2bSandbox, type SandboxTarget } from "../e2b-sandbox.ts";
import { gunzip } from "node:zlib";
import { promisify } from "node:util";
import { kibibyte, mebibyte } from "../../base/bytes.ts";
import type { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import type { ServerResponse } from "node:http";
import { settlesWithin } from "../../base/abort.ts";
import { untilWritable } from "../../base/streams/chunks.ts";
import type { OperationEvent } from "../../operations/contract/wire-values.ts";
import { createHash } from "node:crypto";
import { secretCheck } from "../../base/http/token-proof.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { attributePrefix, maxAttributeBytes, findTool, toolExits, type FileAttributes } from "./file-entries.ts";

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

/** The user whose home the files are in; others have none here. */
const user = "user";

/**
 * The sandbox whose file a request may read or write: it shows its token, or a signature made with it. A link names no
 * sandbox: its signature finds it.
 * @throws E2bRefusal 401
 */
function sandboxOfFile(
  { sandboxes, platform }: E2bContext,
  { request, query }: Exchange,
  named: E2bSandbox | null,
): E2bSandbox {
  const username = query.get("username") ?? "";
  const { "x-access-token": token } = request.headers;
  if (token !== undefined) {
    const isRight = named !== null && typeof token === "string" && sandboxes.isToken(named, token);
    if (!isRight) throw new E2bRefusal(401, "invalid access token");
    return ofUser(named, username);
  }
  const signature = query.get("signature");
  if (signature === null || signature === "") throw new E2bRefusal(401, "missing signature query parameter");
  const file: SignedFile = {
    ...{ path: query.get("path") ?? "", username },
    operation: request.method === "GET" ? "read" : "write",
    expiration: query.get("signature_expiration"),
  };
  const among = named === null ? sandboxes.list() : [named];
  const sandbox = among.find((each) => isSignature(signature, file, each.token));
  if (sandbox === undefined) throw new E2bRefusal(401, "invalid signature");
  if (hasExpired(file, platform.now())) throw new E2bRefusal(401, "signature is already expired");
  return ofUser(sandbox, username);
}

/** @throws E2bRefusal 401 for another user than the sandbox's own */
function ofUser(sandbox: E2bSandbox, username: string): E2bSandbox {
  if (username === "" || username === user) return sandbox;
  throw new E2bRefusal(401, `error looking up user '${username.slice(0, 80)}': only ${user} is served`);
}

/** One file of an upload. */
export interface UploadedFile {
  /** As it was sent. */
  readonly path: string;
  /** Known beforehand, or null. */
  readonly sizeBytes: number | null;
  /** Can be read once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Largest form, and largest compressed file, before and after it is unpacked; they are held as a whole. */
const maxHeldBytes = { form: 32 * mebibyte, file: 10 * mebibyte } as const;
/** What plain bytes may have on their way: they are read as fast as the sandbox takes them. */
const streamBytes = 256 * kibibyte;
/** Parts of one form. */
const maxParts = 256;

/**
 * The files of an upload: plain bytes of any size for the path in the query, or a form whose files are named `file`.
 * @throws E2bRefusal 400 for another form, 413 for too much, CAPACITY
 */
export async function readUpload(
  exchange: Exchange,
  inFlight: BytesInFlight,
  principal: string,
): Promise<readonly UploadedFile[]> {
  const { request, response, query } = exchange;
  const {
    "content-type": type = "",
    "content-encoding": encoding = "identity",
    "content-length": length,
  } = request.headers;
  const path = query.get("path") ?? "";
  const isForm = /^multipart\/form-data\b/i.test(type);
  if (!isForm && !/^application\/octet-stream\b/i.test(type)) {
    throw new E2bRefusal(400, "content-type: expected multipart/form-data or application/octet-stream");
  }
  if (!isForm && path === "") throw new E2bRefusal(400, "path: expected in the query of an upload of plain bytes");
  if (!isForm && encoding.toLowerCase() === "identity") {
    const held = inFlight.hold(principal, streamBytes);
    response.once("close", () => held.release());
    // Destroyed early, it would end the connection before the answer.
    const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    return [{ path, sizeBytes: length === undefined ? null : Number(length), chunks }];
  }
  const maxBytes = maxHeldBytes[isForm ? "form" : "file"];
  const sent = await readWhole(exchange, { inFlight, principal, maxBytes });
  if (encoding.toLowerCase() === "gzip") {
    // Few bytes may become as many as there may be: they are held before there are any.
    const unpacked = inFlight.hold(principal, maxBytes);
    response.once("close", () => unpacked.release());
  }
  const body = await decoded(sent, encoding, maxBytes);
  return isForm ? filesOfForm(body, type, path) : [heldFile(path, body)];
}

function heldFile(path: string, content: Uint8Array): UploadedFile {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return { path, sizeBytes: content.length, chunks: chunks() };
}

/** @throws E2bRefusal 400 for another encoding than gzip, 413 for what unpacks to too much */
async function decoded(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  if (encoding.toLowerCase() === "identity") return body;
  if (encoding.toLowerCase() !== "gzip") throw new E2bRefusal(400, "content-encoding: expected gzip or none");
  try {
    return await promisify(gunzip)(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw code === "ERR_BUFFER_TOO_LARGE" ? tooLarge(maxBytes) : new E2bRefusal(400, "body: expected gzip");
  }
}

/** The files of a form; their names are paths, unless the query has one for the only file. */
async function filesOfForm(body: Buffer, type: string, path: string): Promise<readonly UploadedFile[]> {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw new E2bRefusal(400, "content-type: expected a boundary");
  if (countUpTo(body, `--${mark}`, maxParts + 2) > maxParts + 1) {
    throw new E2bRefusal(400, `body: expected at most ${maxParts} parts`);
  }
  let form: FormData;
  try {
    // It holds the whole body, and so is not recommended for servers; the body is bounded and held already.
    // oxlint-disable-next-line typescript/no-deprecated
    form = await new Response(body, { headers: { "content-type": type } }).formData();
  } catch {
    throw new E2bRefusal(400, "body: expected a form as multipart/form-data");
  }
  const parts = form.getAll("file");
  if (path !== "" && parts.length !== 1) throw new E2bRefusal(400, "body: expected one file for the path in the query");
  const files = await Promise.all(
    parts.map(async (part) => {
      const name = typeof part === "string" ? "" : part.name;
      const content = typeof part === "string" ? Buffer.from(part) : Buffer.from(await part.arrayBuffer());
      return heldFile(path === "" ? name : path, content);
    }),
  );
  if (files.some((file) => file.path === "")) throw new E2bRefusal(400, "body: expected a filename for each file");
  return files;
}

function countUpTo(body: Buffer, mark: string, max: number): number {
  let count = 0;
  for (let at = body.indexOf(mark); at !== -1 && count < max; at = body.indexOf(mark, at + 1)) count += 1;
  return count;
}

function tooLarge(maxBytes: number): E2bRefusal {
  return new E2bRefusal(413, `body: expected at most ${maxBytes} bytes, got more`);
}

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

/** What a signature is good for. */
interface SignedFile {
  /** As it is in the query, not made absolute. */
  readonly path: string;
  readonly operation: "read" | "write";
  readonly username: string;
  /** Unix seconds as they are in the query; null: it does not expire. */
  readonly expiration: string | null;
}

/** The signature that E2B's SDKs make with a sandbox's token for one file. */
export function signatureOf({ path, operation, username, expiration }: SignedFile, token: string): string {
  const parts = [path, operation, username, token, ...(expiration === null ? [] : [expiration])];
  return `v1_${createHash("sha256").update(parts.join(":")).digest("base64").replaceAll("=", "")}`;
}

/** Whether a signature was made with that token, in the same time whatever it is. */
export function isSignature(shown: string, file: SignedFile, token: string): boolean {
  return secretCheck(signatureOf(file, token))(shown);
}

/** Whether the time of a signature, which has been checked, has passed. */
export function hasExpired({ expiration }: SignedFile, nowMs: number): boolean {
  if (expiration === null) return false;
  return !/^\d{1,12}$/.test(expiration) || Number(expiration) * 1000 < nowMs;
}

/** An error of a file operation in E2B's words, where it has some. */
function inE2bWords(error: unknown, path: string): unknown {
  if (!(error instanceof GloveboxError)) return error;
  const { errorType, message } = error;
  const { code } = error.context;
  if (errorType === "NOT_FOUND") return new E2bRefusal(404, `path '${path}' does not exist`);
  if (code === "IS_A_DIRECTORY") return new E2bRefusal(400, `path '${path}' is a directory`);
  if (code === "NO_SPACE") return new E2bRefusal(507, message);
  return error;
}

const header = "x-metadata-";
const maxNameBytes = 255 - attributePrefix.length;
const maxAttributes = 64;

const setScript = `${findTool}; [ -n "$t" ] || exit ${toolExits.noTool}; exec "$t" set-attributes ${attributePrefix} "$@"`;

/** The attributes that an upload's headers ask for. @throws E2bRefusal 400 for what is no attribute, or too much */
export function attributesAsked(headers: NodeJS.Dict<string | string[]>): FileAttributes {
  const asked = Object.entries(headers)
    .filter(([name]) => name.startsWith(header))
    .map(([name, value]) => [name.slice(header.length), String(value)] as const);
  for (const [name, value] of asked) {
    if (!/^[!-~]+$/.test(name) || name.length > maxNameBytes) {
      throw new E2bRefusal(400, `X-Metadata: expected names of 1 to ${maxNameBytes} characters of printable ASCII`);
    }
    if (!/^[ -~]*$/.test(value)) {
      throw new E2bRefusal(400, `X-Metadata-${name}: expected a value of printable ASCII`);
    }
  }
  const bytes = asked.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (asked.length > maxAttributes || bytes > maxAttributeBytes) {
    throw new E2bRefusal(
      400,
      `X-Metadata: expected at most ${maxAttributes} attributes and ${maxAttributeBytes} bytes, got ${asked.length} and ${bytes}`,
    );
  }
  return Object.fromEntries(asked);
}

/** Gives a file that has just been written its attributes. @throws E2bRefusal if it is written and cannot have them */
export async function setAttributes(call: RpcCall, path: string, attributes: FileAttributes): Promise<void> {
  const pairs = Object.entries(attributes).flat();
  if (pairs.length === 0) return;
  const { exitCode } = await runInside(call, setScript, [path, ...pairs]);
  if (exitCode === 0) return;
  if (exitCode === toolExits.full) throw new E2bRefusal(507, `'${path}' is written, but has no room for X-Metadata`);
  if (exitCode === toolExits.unsupported || exitCode === toolExits.noTool) {
    throw new E2bRefusal(400, `'${path}' is written, but files have no X-Metadata there: its file system keeps none`);
  }
  throw new E2bRefusal(500, `'${path}' is written, but X-Metadata could not be set (exit code ${exitCode})`);
}
