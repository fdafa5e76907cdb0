import type { GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationCall } from "../operations/contract/operation-call.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";
import { wireErrorSchema } from "../operations/contract/wire-error-schema.ts";
import { wireEventSchema, type WireEvent } from "../operations/contract/wire-events.ts";
import { cutAnswer, strangeAnswer } from "./network-failure.ts";
import { readLines } from "./read-lines.ts";
import { checkedResponse, errorOfWire, eventOf } from "./wire-answer.ts";

/**
 * The response of an operation, checked against its schema; its events go to the caller meanwhile, and a slow caller
 * slows the server down. @throws GloveboxError: the server's own, or NETWORK_ERROR for an answer that is cut off or
 * malformed
 */
export async function readAnswer(
  response: Response,
  contract: OperationContract,
  { onEvent }: Pick<OperationCall, "onEvent">,
): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (response.ok && type.startsWith("text/event-stream")) {
    for await (const line of readLines(response)) {
      const event = line.startsWith("data: ") ? readEvent(line.slice("data: ".length)) : null;
      if (event === null) continue;
      if (event.event === "result") return checkedResponse(contract, event.result);
      if (event.event === "error") throw errorOf(event.error, response);
      await onEvent?.(eventOf(event));
    }
    throw cutAnswer();
  }
  return checkedResponse(contract, await readBody(response));
}

/** The JSON of a successful response. @throws GloveboxError: the server's own, or NETWORK_ERROR if it is not JSON */
export async function readBody(response: Response): Promise<unknown> {
  let text = "";
  for await (const line of readLines(response)) text += text === "" ? line : `\n${line}`;
  const body = parseJson(text);
  if (response.ok) return body;
  throw errorOf(body, response);
}

/** Null for one that this version does not know. */
function readEvent(text: string): WireEvent | null {
  const json = parseJson(text);
  const parsed = wireEventSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { event } = (json ?? {}) as { readonly event?: unknown };
  if (event === "result" || event === "error") throw strangeAnswer(`a bad ${event}`, parsed.error);
  return null;
}

function errorOf(body: unknown, { status, headers }: Response): GloveboxError {
  const parsed = wireErrorSchema.safeParse(body);
  if (!parsed.success) throw strangeAnswer(`HTTP status ${status}`, parsed.error);
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return errorOfWire(parsed.data, Number.isNaN(retryAfter) ? {} : { retry_after_seconds: retryAfter });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw strangeAnswer("it is not JSON", error);
  }
}
