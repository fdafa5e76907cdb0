import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { OutputChunk, OutputStream } from "../../engine.ts";

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
