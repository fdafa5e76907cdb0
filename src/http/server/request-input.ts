import type { FastifyReply, FastifyRequest } from "fastify";
import { kibibyte } from "../../base/bytes.ts";
import { dropBody } from "../../base/http/read-body.ts";
import { GrowingBuffer } from "../../base/streams/collected-bytes.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { takesItsTime } from "../slow-uploads.ts";
import type { AnswerForm } from "../answer-form.ts";

/** Standard input that follows a request in its body. */
export interface RequestInput {
  /** Read only as far as the program takes it. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Reads and drops what the program did not read, within bounds: closed on unread bytes, its client would lose the answer. */
  readonly drop: () => Promise<void>;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null: nothing follows the request. */
    input: RequestInput | null;
  }
  interface FastifyContextConfig {
    /** Whether standard input may follow a request of this route. */
    takesInput?: boolean;
  }
}

/** What is on its way between the connection and the sandbox. */
const onItsWayBytes = 256 * kibibyte;

/**
 * The first line of a body; null if it is longer than `maxBytes`. What follows it is the request's `input`, of any size: the
 * sandbox is given it as fast as its program reads. `onHold` is told what is held, before there is more.
 * @throws INVALID_REQUEST for a body without a line feed, what `onHold` throws
 */
export async function readRequestLine(
  request: FastifyRequest,
  { maxBytes, onHold }: { readonly maxBytes: number; readonly onHold: (bytes: number) => void },
): Promise<Buffer | null> {
  const { raw } = request;
  // Destroying it early would end the connection before the answer.
  const chunks = raw.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
  const drop = async (): Promise<void> => {
    // A read that waits for its sender is not waited for.
    Promise.resolve(chunks.return?.()).catch(() => undefined);
    await dropBody(raw);
  };
  const line = new GrowingBuffer();
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) throw invalidField("body", "a line of JSON that ends with a line feed", "none");
      const end = next.value.indexOf(0x0a);
      const part = end === -1 ? next.value : next.value.subarray(0, end);
      if (line.length + part.length > maxBytes) break;
      onHold(line.length + part.length + onItsWayBytes);
      line.append(part);
      if (end === -1) continue;
      request.input = { chunks: restOf(next.value.subarray(end + 1), chunks), drop };
      return line.take();
    }
  } catch (error) {
    await drop();
    throw error;
  }
  await drop();
  return null;
}

async function* restOf(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (first.length > 0) yield first;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

/** Answers a request that standard input may follow: its run has a time of its own, and the answer does not wait for the rest. */
export async function answerWithInput(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  answer: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { input } = request;
  if (input === null) return answer();
  const isDone = takesItsTime(request.raw.socket);
  // The next request of this connection has the usual time again.
  reply.raw.once("close", isDone);
  reply.raw.once("finish", () => void input.drop());
  try {
    return await answer();
  } catch (error) {
    await input.drop();
    throw error;
  }
}

/**
 * A second request with the same key could not be compared, and nothing more comes without its client.
 * @throws INVALID_REQUEST for what standard input cannot follow
 */
export function assertInputFits(
  { request, key }: { readonly request: Readonly<Record<string, unknown>>; readonly key: string | undefined },
  form: AnswerForm,
): void {
  const expected = "to be left out where standard input follows the request";
  if (request["stdin"] !== undefined) throw invalidField("stdin", expected, "both");
  if (key !== undefined) throw invalidField("Idempotency-Key", expected, key);
  if (form === "async") throw invalidField("Prefer", expected, "respond-async");
}
