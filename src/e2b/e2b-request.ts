import type { BytesInFlight } from "../calls/bytes-in-flight.ts";
import type { Platform } from "../platform/platform.ts";
import type { ProcessTable } from "./envd/e2b-process.ts";
import type { WatchTable } from "./envd/client-watch.ts";
import type { PortGates, SandboxHosts } from "./sandbox-ports.ts";
import { readWhole, type Exchange } from "./exchange.ts";
import type { ExecutionBook } from "./interpreter-execution.ts";
import type { E2bCaller, E2bSandbox, SandboxTarget } from "./e2b-sandbox.ts";
import type { E2bSandboxes } from "./e2b-sandboxes.ts";
import type { IncomingMessage } from "node:http";
import { E2bRefusal, notRunning, ConnectError } from "./refusal.ts";
import type { z } from "zod";
import { mebibyte } from "../base/bytes.ts";
import { assertBoundedJson } from "../base/json-text.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { parseEnvelope } from "./envd/rpc-stream.ts";
import { execInSandboxContract } from "../operations/live-sandbox-contract.ts";

/** What all requests of E2B's clients need. */
export interface E2bContext {
  readonly platform: Platform;
  readonly sandboxes: E2bSandboxes;
  readonly processes: ProcessTable;
  readonly watches: WatchTable;
  readonly executions: ExecutionBook;
  readonly hosts: SandboxHosts;
  readonly ports: PortGates;
  readonly inFlight: BytesInFlight;
  /** Counts a request, and its connection, for the caller whose key, token or signature it shows. @throws CAPACITY */
  readonly admit: (exchange: Exchange, caller: E2bCaller) => void;
  /** @throws CAPACITY while the server is shutting down */
  readonly assertTakesWork: () => void;
}

/** Ports of a sandbox that are ours: E2B's daemon, and its code interpreter. */
const envdPort = 49_983;
const interpreterPort = 49_999;
const maxPort = 65_535;

/** Which part of which sandbox a request is for; null: one of its own programs listens there. */
export interface NamedSandbox {
  readonly sandbox: E2bSandbox;
  readonly port: number;
  readonly part: "envd" | "interpreter" | null;
}

/** Whether a request is for a sandbox, not for the control API. */
export function isForSandbox({ hosts }: Pick<E2bContext, "hosts">, { headers }: IncomingMessage): boolean {
  const isNamed = headers["e2b-sandbox-id"] !== undefined || headers["e2b-sandbox-port"] !== undefined;
  return isNamed || hosts.read(headers.host) !== null;
}

/**
 * The sandbox that the host names, else the headers; its token is still to be checked.
 * @throws E2bRefusal 400 for one header without the other, 502 for a sandbox that does not answer
 */
export function findNamed({ sandboxes, hosts }: E2bContext, { headers }: IncomingMessage): NamedSandbox {
  const { id, port } = hosts.read(headers.host) ?? namedByHeaders(headers);
  const sandbox = sandboxes.find(id);
  if (sandbox === null) throw notRunning(id);
  return { sandbox, port, part: partOf(port) };
}

/** What of ours listens there; null: nothing. */
export function partOf(port: number): NamedSandbox["part"] {
  if (port === envdPort) return "envd";
  return port === interpreterPort ? "interpreter" : null;
}

/** The sandbox as it is now, started again if it was stopped to make room. @throws E2bRefusal 502 if it has ended */
export async function liveTarget(
  { sandboxes }: E2bContext,
  { signal }: Exchange,
  sandbox: E2bSandbox,
): Promise<SandboxTarget> {
  const sandboxId = await sandboxes.currentId(sandbox, signal);
  if (sandboxId === null) throw notRunning(sandbox.id);
  return { sandbox, sandboxId };
}

/** A request to the code interpreter of a sandbox, whose token was checked. */
export interface InterpreterRequest {
  readonly context: E2bContext;
  readonly exchange: Exchange;
  readonly sandbox: E2bSandbox;
}

/** A call of a method. */
export interface RpcCall {
  readonly context: E2bContext;
  readonly exchange: Exchange;
  readonly target: SandboxTarget;
}

/** A method with one answer, or with a stream of them. */
export type RpcMethod =
  | { readonly type: "unary"; readonly handle: (call: RpcCall, body: unknown) => Promise<object> | object }
  | { readonly type: "stream"; readonly handle: (call: RpcCall, body: unknown) => Promise<void> };

/** Largest message; input for programs is in them. */
const maxBytes = 8 * mebibyte;

/** The message of a request, as JSON. @throws ConnectError, CAPACITY */
export async function readMessage({ context, exchange, target }: RpcCall, type: RpcMethod["type"]): Promise<unknown> {
  const { headers } = exchange.request;
  const expected = type === "unary" ? "application/json" : "application/connect+json";
  const [given = ""] = (headers["content-type"] ?? "").split(";", 1);
  if (given.trim().toLowerCase() !== expected) {
    throw new ConnectError("unimplemented", `content-type: expected ${expected}, as E2B's SDKs send it`);
  }
  const encoding = headers[type === "unary" ? "content-encoding" : "connect-content-encoding"] ?? "identity";
  if (encoding !== "identity") throw new ConnectError("unimplemented", "compressed messages are not served");
  const { principal } = target.sandbox.caller;
  const body = await readWhole(exchange, { inFlight: context.inFlight, principal, maxBytes });
  const message = type === "unary" ? body : parseEnvelope(body);
  if (message.length === 0) return {};
  assertBoundedJson(message);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(message)) as unknown;
  } catch {
    throw new ConnectError("invalid_argument", "body: expected JSON in UTF-8");
  }
}

/** A message in its checked form. @throws INVALID_REQUEST */
export function parseMessage<Schema extends z.ZodObject>(schema: Schema, body: unknown): z.output<Schema> {
  return parseRequest({ request: schema }, body);
}

/** What a script of ours said. */
interface ScriptAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
}

const maxOutputBytes = 4 * mebibyte;
const withinMs = 60_000;

/**
 * Runs a script for files in the sandbox, with what it is about as arguments. Whatever it says is the sandbox's own word.
 * @throws ConnectError for too much output, what `exec_in_sandbox` throws
 */
export async function runInside(
  { context, exchange, target }: RpcCall,
  script: string,
  args: string[],
): Promise<ScriptAnswer> {
  const { sandbox, sandboxId } = target;
  const pieces: Uint8Array[] = [];
  let length = 0;
  const command = ["/bin/sh", "-c", script, "sh", ...args];
  const answer = await context.platform.call(
    execInSandboxContract,
    { sandbox_id: sandboxId, command, environment: { LC_ALL: "C" } },
    {
      principal: sandbox.caller.principal,
      signal: AbortSignal.any([exchange.signal, sandbox.ended, AbortSignal.timeout(withinMs)]),
      onEvent: (event) => {
        if (event.type !== "output" || event.stream !== "stdout") return;
        length += event.bytes.length;
        if (length <= maxOutputBytes) pieces.push(event.bytes);
      },
    },
  );
  if (length > maxOutputBytes)
    throw new ConnectError("resource_exhausted", "too many files for one list; list less deep");
  return { exitCode: answer.exit_code, stdout: Buffer.concat(pieces) };
}

function namedByHeaders(headers: IncomingMessage["headers"]): { readonly id: string; readonly port: number } {
  const { "e2b-sandbox-id": id, "e2b-sandbox-port": port } = headers;
  if (typeof id !== "string" || typeof port !== "string") {
    throw new E2bRefusal(400, "headers: expected both E2b-Sandbox-Id and E2b-Sandbox-Port");
  }
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > maxPort) {
    throw new E2bRefusal(400, `E2b-Sandbox-Port: expected a port, got ${JSON.stringify(port.slice(0, 80))}`);
  }
  return { id, port: Number(port) };
}
