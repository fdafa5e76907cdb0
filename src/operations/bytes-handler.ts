import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { shortenTooling } from "../policy/tooling/tooling-changes.ts";
import type { FileContent } from "../sandbox/files/file-way.ts";
import type { SandboxFiles } from "../sandbox/files/sandbox-files.ts";
import type { CallOptions } from "../engines/engine.ts";
import type { OperationCall } from "./contract/operation-call.ts";
import { maxToolingFiles } from "./environments/tooling-schema.ts";
import { handle } from "./handling/handler.ts";
import { downloadFileContract, uploadFileContract } from "./bytes-contract.ts";
import { absolutePath, anyPlaceOf } from "./file-place.ts";

/** The part of a file that is wanted. */
interface Part {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly last?: number | undefined;
}

/** `download_file`: a file, or a part of it, as the output of the call, at its reader's pace. */
export const downloadFileHandler = handle(
  downloadFileContract,
  async (platform, { path, offset, limit, last, ...fields }, call) => {
    if (last !== undefined && (offset ?? limit) !== undefined) {
      throw invalidField("last", "to be left out beside offset and limit", last);
    }
    const place = await anyPlaceOf(platform, fields, call);
    const absolute = absolutePath(place, path);
    const redactor = place.redaction()?.stream() ?? null;
    let isBegun = false;
    const used = await place.use(
      async (files, how) => {
        // What was sent cannot be taken back: a new sandbox would go on with another file.
        if (isBegun) throw lostMeanwhile(path);
        const opened = await openPart(files, absolute, { offset, limit, last }, how);
        isBegun = true;
        return sendContent(opened, redactor, call);
      },
      { writes: false },
    );
    return { ...place.about, path, sent_bytes: used.result };
  },
);

/** `upload_file`: the input of the call as a file, once all of it has come. */
export const uploadFileHandler = handle(
  uploadFileContract,
  async (platform, { path, size_bytes: announced = null, ...fields }, call) => {
    const { stdin } = call;
    if (stdin === undefined) throw invalidField("input", "the content of the file", "nothing");
    const place = await anyPlaceOf(platform, fields, call);
    const absolute = absolutePath(place, path);
    const counted = { bytes: 0, isTaken: false };
    const used = await place.use(
      async (files, how) => {
        // What has come cannot come again: a new sandbox would get the end of the file only.
        if (counted.isTaken) throw lostMeanwhile(path);
        const chunks = takenOnce(stdin, counted);
        const content = announced === null ? { sizeBytes: announced, chunks } : { sizeBytes: announced, chunks };
        await files.write(absolute, content, how);
      },
      { writes: true },
    );
    const { restarted, warnings, toolingFiles } = used;
    return {
      ...{ ...place.about, path, restarted, warnings: [...warnings], size_bytes: counted.bytes },
      ...(toolingFiles === null ? {} : { tooling_files: [...shortenTooling(toolingFiles, maxToolingFiles)] }),
    };
  },
);

interface OpenedPart extends FileContent {
  readonly offset: number;
  readonly length: number;
}

/** @throws what `SandboxFiles` throws */
async function openPart(files: SandboxFiles, path: string, part: Part, { signal }: CallOptions): Promise<OpenedPart> {
  const { last } = part;
  const offset = last === undefined ? (part.offset ?? 0) : Math.max(0, (await sizeOf(files, path, signal)) - last);
  const limit = last ?? part.limit;
  const { sizeBytes, chunks } = await files.read(path, { offsetBytes: offset, maxBytes: limit, signal });
  const rest = Math.max(0, sizeBytes - offset);
  return { sizeBytes, chunks, offset, length: limit === undefined ? rest : Math.min(rest, limit) };
}

async function sizeOf(files: SandboxFiles, path: string, signal: AbortSignal | undefined): Promise<number> {
  const { sizeBytes, chunks } = await files.read(path, { maxBytes: 1, signal });
  await chunks[Symbol.asyncIterator]().return?.();
  return sizeBytes;
}

/** Bytes that were sent. */
async function sendContent(
  { sizeBytes, chunks, offset, length }: OpenedPart,
  redactor: { write(bytes: Uint8Array): Uint8Array; end(): Uint8Array } | null,
  { onContent, onEvent }: Pick<OperationCall, "onContent" | "onEvent">,
): Promise<number> {
  let sent = 0;
  const send = async (bytes: Uint8Array): Promise<void> => {
    sent += bytes.length;
    if (bytes.length > 0) await onEvent?.({ type: "output", stream: "stdout", bytes });
  };
  const pieces = chunks[Symbol.asyncIterator]();
  try {
    onContent?.(redactor === null ? { sizeBytes, offset, length } : { sizeBytes: null, offset, length: null });
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      await send(redactor === null ? next.value : redactor.write(next.value));
    }
  } finally {
    await pieces.return?.();
  }
  if (redactor !== null) await send(redactor.end());
  return sent;
}

async function* takenOnce(
  chunks: AsyncIterable<Uint8Array>,
  counted: { bytes: number; isTaken: boolean },
): AsyncGenerator<Uint8Array, void, undefined> {
  counted.isTaken = true;
  for await (const chunk of chunks) {
    counted.bytes += chunk.length;
    yield chunk;
  }
}

function lostMeanwhile(path: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The sandbox was lost while ${JSON.stringify(path)} was being moved.`, {
    suggestion: "Send the request again, from the beginning.",
    context: { path },
  });
}
