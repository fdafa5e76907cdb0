import { GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationCall } from "../operations/contract/operation-call.ts";
import type { OperationContract } from "../operations/contract/operation-contract.ts";

/** The most standard input that one request may carry. */
const maxStdinBytes = 8_388_608;

/**
 * Reads standard input from a stream into the request: a server gets all of it before the program starts.
 * @throws UNSUPPORTED for an operation without standard input, for what is not UTF-8, and for more than 8 MiB
 */
export async function withGatheredStdin(
  { name, request: schema }: OperationContract,
  request: object,
  { stdin }: Pick<OperationCall, "stdin">,
): Promise<object> {
  if (stdin === undefined) return request;
  if (!("stdin" in schema.shape)) throw refusal(`${name} takes no standard input from a client`);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let [text, bytes] = ["", 0];
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > maxStdinBytes) throw refusal(`standard input can have at most ${maxStdinBytes} bytes`);
    text += decodeWith(decoder, chunk);
  }
  return { ...request, stdin: text + decodeWith(decoder) };
}

function decodeWith(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw refusal("standard input must be UTF-8", error);
  }
}

function refusal(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `To a server ${why}.`, {
    suggestion: "Send it as a file, or run without a server.",
    cause,
  });
}
