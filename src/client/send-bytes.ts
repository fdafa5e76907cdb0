import type { OperationCall } from "../operations/contract/operation-call.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import { readBody } from "./read-answer.ts";
import { pathOfFields, unsupported } from "./request-of-route.ts";

/** A request whose body or answer is content as it is. */
export interface BytesRequest {
  readonly method: "GET" | "PUT";
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The content of an upload, sent as it comes. */
  readonly content?: AsyncIterable<Uint8Array>;
}

const bytesType = "application/octet-stream";

/** Where to send a request of an operation on content. @throws UNSUPPORTED when no path fits, INVALID_REQUEST for no content */
export function bytesRequest(contract: OperationContract, request: object, { stdin }: OperationCall): BytesRequest {
  const { direction, paths = [] } = contract.bytes ?? {};
  const fields = new Map(Object.entries(request).filter(([, value]) => value !== undefined));
  const fitting = paths.find((path) => [...path.matchAll(/\{(\w+)\}/g)].every(([, field = ""]) => fields.has(field)));
  if (fitting === undefined) throw unsupported(contract.name);
  const { path, rest } = pathOfFields(fitting, fields);
  if (direction === "up") {
    if (stdin === undefined) throw invalidField("input", "the content of the file", "nothing");
    return { method: "PUT", path, headers: { "content-type": bytesType }, content: stdin };
  }
  const query = new URLSearchParams([...rest].map(([field, value]): [string, string] => [field, String(value)]));
  return {
    method: "GET",
    path: query.size === 0 ? path : `${path}?${query.toString()}`,
    headers: { accept: bytesType },
  };
}

/** The content of an answer goes to the caller as fast as it takes it. @throws the server's own error */
export async function readContent(
  response: Response,
  request: object,
  { onContent, onEvent }: Pick<OperationCall, "onContent" | "onEvent">,
): Promise<unknown> {
  if (!response.ok) return readBody(response);
  const length = response.headers.get("content-length");
  onContent?.({ sizeBytes: null, offset: 0, length: length === null ? null : Number(length) });
  let sent = 0;
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
      const bytes = next.value as Uint8Array;
      sent += bytes.length;
      await onEvent?.({ type: "output", stream: "stdout", bytes });
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
  const { offset: _, limit: __, last: ___, ...place } = request as Record<string, unknown>;
  return { ...place, sent_bytes: sent };
}
