import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { EngineName, OutputChunk, OutputStream } from "../../engine.ts";

/** One call of the engine's API. */
export interface ApiRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** Path without query; ids and names in it are ours or the engine's. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  /** A tar archive, in place of a body. */
  readonly archive?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Status and decoded body: parsed JSON, text when it is not JSON, null when it is empty. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface Product {
  readonly engine: EngineName;
  readonly title: string;
}

/** The engine's own message in an answer that refuses. */
export function refusalReason(answer: ApiAnswer): string {
  const { body } = answer;
  if (typeof body === "string") return body.trim();
  if (typeof body !== "object" || body === null) return "";
  const { message, cause } = body as { readonly message?: unknown; readonly cause?: unknown };
  return [message, cause].find((words): words is string => typeof words === "string" && words !== "")?.trim() ?? "";
}

/**
 * The status that an answer would have if it were consistent: Podman answers 500 when a container goes away during the
 * call, and 404 when it was gone before.
 */
export function consistentStatus(answer: ApiAnswer): number {
  return answer.status === 500 && /no such container/i.test(refusalReason(answer)) ? 404 : answer.status;
}

/**
 * A refusal that no caller expected, in the catalogue's terms. `action` completes "failed to ...".
 * The engine's words are only the cause, because they may hold paths of its host; those of a 400 speak of what we sent.
 */
export function statusError(product: Product, action: string, answer: ApiAnswer): GloveboxError {
  const { engine, title } = product;
  const reason = refusalReason(answer);
  const cause = new Error(`HTTP ${answer.status}: ${reason}`);
  const context = { engine, http_status: answer.status };
  if (answer.status === 404 || isContainerGone(answer.status, reason)) {
    return new GloveboxError("SANDBOX_LOST", `${title} lost the container: failed to ${action}.`, {
      context,
      cause,
    });
  }
  if (answer.status === 409 && /already in use/.test(reason)) {
    return new GloveboxError("ALREADY_EXISTS", `${title} has a container of this name: failed to ${action}.`, {
      context,
      cause,
    });
  }
  if (/rlimit/.test(reason)) {
    return new GloveboxError("UNSUPPORTED", `${title} cannot raise a limit as far as asked: failed to ${action}.`, {
      suggestion: "Lower the limit of open files, or give the engine the right to raise it.",
      context,
      cause,
    });
  }
  if (/seccomp/i.test(reason)) {
    return new GloveboxError("UNSUPPORTED", `${title} refuses the seccomp profile: failed to ${action}.`, {
      context,
      cause,
    });
  }
  if (/bind source path does not exist|statfs |invalid mount config/.test(reason)) {
    return new GloveboxError("UNSUPPORTED", `${title} does not see a folder of this machine: failed to ${action}.`, {
      suggestion: "Let the engine run on this machine, with this folder in the same place for both.",
      context,
      cause,
    });
  }
  const target = /error mounting "[^"]{1,4096}" to rootfs at "(\/[\w./-]{1,200})"/.exec(reason)?.[1];
  if (target !== undefined) {
    return new GloveboxError("UNSUPPORTED", `${title} cannot mount ${target} in this image: failed to ${action}.`, {
      suggestion: `Use an image in which ${target} is no link and nothing unusual.`,
      context: { ...context, path: target },
      cause,
    });
  }
  if (answer.status === 400) {
    return new GloveboxError("UNSUPPORTED", `${title} refuses to ${action}: ${reason}`, { context, cause });
  }
  return new GloveboxError("INTERNAL", `${title} failed to ${action} (HTTP ${answer.status}).`, { context, cause });
}

/** Type, three unused bytes, length of the payload as a 32-bit big-endian number. */
const headerBytes = 8;

/** Stream types of the protocol; 3 carries the engine's own complaints. */
const streams: readonly OutputStream[] = ["stdout", "stdout", "stderr", "stderr"];

/**
 * Splits the engine's multiplexed stream, fed piece by piece, into chunks of stdout and stderr.
 * Bytes come out as soon as they went in, also from the middle of a frame; neighbours of one stream come out as one chunk.
 * The result throws INTERNAL for bytes that are no such stream.
 */
export function createDemuxer(): (bytes: Uint8Array) => OutputChunk[] {
  const header = Buffer.alloc(headerBytes);
  let headerFilled = 0;
  let payloadLeft = 0;
  let stream: OutputStream = "stdout";

  function readHeader(bytes: Uint8Array): number {
    const taken = Math.min(headerBytes - headerFilled, bytes.length);
    header.set(bytes.subarray(0, taken), headerFilled);
    headerFilled += taken;
    if (headerFilled === headerBytes) {
      const named = streams[header[0] ?? -1];
      if (named === undefined)
        throw new GloveboxError("INTERNAL", "The engine's output stream is not framed as agreed.");
      stream = named;
      payloadLeft = header.readUInt32BE(4);
      headerFilled = payloadLeft === 0 ? 0 : headerBytes;
    }
    return taken;
  }

  return (bytes) => {
    const runs: { stream: OutputStream; pieces: Uint8Array[] }[] = [];
    let offset = 0;
    while (offset < bytes.length) {
      if (headerFilled < headerBytes) {
        offset += readHeader(bytes.subarray(offset));
        continue;
      }
      const piece = bytes.subarray(offset, offset + payloadLeft);
      offset += piece.length;
      payloadLeft -= piece.length;
      if (payloadLeft === 0) headerFilled = 0;
      const last = runs.at(-1);
      if (last?.stream === stream) last.pieces.push(piece);
      else runs.push({ stream, pieces: [piece] });
    }
    return runs.map((run) => ({
      stream: run.stream,
      bytes: run.pieces.length === 1 && run.pieces[0] !== undefined ? run.pieces[0] : Buffer.concat(run.pieces),
    }));
  };
}

function isContainerGone(status: number, reason: string): boolean {
  if (status !== 409 && status !== 500) return false;
  return /is not running|is paused|stopped (?:container|state)|container state improper|marked for removal|removal .{0,400} in progress/.test(
    reason,
  );
}
