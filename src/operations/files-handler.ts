import { decodeBase64, assertOnePlace, type AboutPlace, type PlaceFields } from "./settle.ts";
import { isUtf8 } from "node:buffer";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import type { Redaction } from "../policy/redaction.ts";
import { shortenTooling } from "../policy/tooling-changes.ts";
import {
  editFile,
  listFiles,
  maxFileBytes,
  readFile,
  writeFile,
  type FileUse,
  type FileOptions,
  type FileWork,
} from "../workloads/place/place-files.ts";
import { secretWarnings } from "../workloads/run/explain-ending.ts";
import { maxToolingFiles } from "./contract/program-schema.ts";
import { handle } from "./handler.ts";
import {
  editFileContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
  downloadFileContract,
  uploadFileContract,
  type WriteFileResponse,
} from "./files-contract.ts";
import type { FileContent } from "../sandbox/files/file-way.ts";
import type { SandboxFiles } from "../sandbox/files/sandbox-files.ts";
import type { CallOptions } from "../engines/engine.ts";
import type { OperationCall } from "./contract/operation-contract.ts";
import type { Environment } from "../workloads/environment/environment.ts";
import { projectFolder } from "../workloads/environment/environment-spec.ts";
import { insidePath } from "../sandbox/files/inside-path.ts";
import { useFiles } from "../workloads/session/session-work.ts";
import type { Session } from "../workloads/session/session.ts";
import { callListener } from "./to-wire.ts";
import { reachSandbox, type LiveSandboxNeeds } from "./live-sandbox-handler.ts";
import { sessionOf, type SessionNeeds } from "./session-handler.ts";
import type { Environments } from "../workloads/environment/environments.ts";

export interface FileNeeds extends SessionNeeds, LiveSandboxNeeds {
  readonly environments: Environments;
}

/** `list_files`: what is in a folder of an environment or a session. */
export const listFilesHandler = handle(
  listFilesContract,
  async (platform: FileNeeds, { path = ".", ...fields }, call) => {
    const place = await filePlaceOf(platform, fields, call);
    const used = await place.use((files, how) => listFiles(files, absolutePath(place, path), how), { writes: false });
    const redaction = place.redaction();
    const files = used.result.files.map(({ path: name, type, sizeBytes }) => ({
      path: redaction.text(name),
      type,
      size_bytes: sizeBytes,
    }));
    return { ...aboutUse(place, used, secretWarnings(redaction)), files, truncated: used.result.truncated };
  },
);

/** `read_file`: a file of an environment or a session, or a piece of it. */
export const readFileHandler = handle(
  readFileContract,
  async (platform: FileNeeds, { path, encoding, offset = 0, limit = maxFileBytes, ...fields }, call) => {
    const place = await filePlaceOf(platform, fields, call);
    const wanted = { path: absolutePath(place, path), offset, limit };
    const used = await place.use((files, how) => readFile(files, wanted, how), { writes: false });
    const { sizeBytes } = used.result;
    const redaction = place.redaction();
    const content = redaction.bytes(used.result.content);
    const written = encoding ?? (isUtf8(content) ? "utf8" : "base64");
    return {
      ...aboutUse(place, used, secretWarnings(redaction)),
      path,
      content: Buffer.from(content).toString(written),
      encoding: written,
      size_bytes: sizeBytes,
      truncated: offset + used.result.content.length < sizeBytes,
    };
  },
);

/** `write_file`: a file into an environment or a session. */
export const writeFileHandler = handle(
  writeFileContract,
  async (platform: FileNeeds, { path, content: text, encoding = "utf8", ...fields }, call) => {
    const place = await writablePlaceOf(platform, fields, call);
    const content = encoding === "base64" ? decodeBase64(text, "content") : Buffer.from(text, encoding);
    const wanted = { path: absolutePath(place, path), content };
    const used = await place.use((files, how) => writeFile(files, wanted, how), { writes: true });
    const { toolingFiles } = used;
    return {
      ...aboutUse(place, used),
      path,
      size_bytes: content.length,
      ...shownTooling(toolingFiles),
    };
  },
);

/** `edit_file`: an exact replacement in a file of an environment or a session. */
export const editFileHandler = handle(
  editFileContract,
  async (
    platform: FileNeeds,
    { path, old_text: oldText, new_text: newText, replace_all: all = false, ...fields },
    call,
  ) => {
    const place = await filePlaceOf(platform, fields, call);
    const wanted = { path: absolutePath(place, path), oldText, newText, all };
    const used = await place
      .use((files, how) => editFile(files, wanted, how), { writes: true })
      .catch((error: unknown) => {
        throw redacted(error, place.redaction());
      });
    const { result, toolingFiles } = used;
    return {
      ...aboutUse(place, used),
      path,
      replacements: result.replacements,
      size_bytes: result.sizeBytes,
      ...shownTooling(toolingFiles),
    };
  },
);

/** The part of a file that is wanted. */
interface Part {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly last?: number | undefined;
}

/** `download_file`: a file, or a part of it, as the output of the call, at its reader's pace. */
export const downloadFileHandler = handle(
  downloadFileContract,
  async (platform: FileNeeds, { path, offset, limit, last, ...fields }, call) => {
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
  async (platform: FileNeeds, { path, size_bytes: announced = null, ...fields }, call) => {
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

/** What files belong to: an environment or a session. */
interface FilePlace {
  readonly about: AboutPlace;
  /** Where its programs start; relative paths are below it. */
  readonly startFolder: string;
  /** Removes the secrets that its programs have been given. */
  readonly redaction: () => Redaction;
  /** @throws what opening the place's sandbox and the work throw */
  use<T>(work: FileWork<T>, options: Pick<FileOptions, "writes">): Promise<FileUse<T>>;
}

/** The same, or a live sandbox, in which no folder is the one that programs start in. */
interface ReachedPlace extends Pick<FilePlace, "use"> {
  readonly about: AboutPlace | { readonly sandbox_id: string };
  readonly startFolder: string | null;
  /** Null: nothing is removed. */
  readonly redaction: () => Redaction | null;
}

/** The place that a request means; it must already exist. @throws INVALID_REQUEST, NOT_FOUND */
async function filePlaceOf(platform: FileNeeds, fields: PlaceFields, call: OperationCall): Promise<FilePlace> {
  assertOnePlace(fields);
  const { env_id: id } = fields;
  if (id !== undefined) return inEnvironment(await platform.environments.find(id, call.principal), call);
  const session = platform.sessions.find(fields.session_id, call);
  if (session !== null) return inSession(session, platform, call);
  throw new GloveboxError("NOT_FOUND", "There is no session yet.", {
    suggestion:
      "Begin one with run_code or write_file, or name a session by its session_id or an environment by its env_id.",
  });
}

/** The same, or a new session if none is named. @throws INVALID_REQUEST, NOT_FOUND, what `sessionOf` throws */
async function writablePlaceOf(platform: FileNeeds, fields: PlaceFields, call: OperationCall): Promise<FilePlace> {
  assertOnePlace(fields);
  if (fields.env_id !== undefined) return filePlaceOf(platform, fields, call);
  const { session } = await sessionOf(platform, { session_id: fields.session_id }, call);
  return inSession(session, platform, call);
}

/** An environment, a session or a live sandbox; it must already exist. @throws INVALID_REQUEST, NOT_FOUND, UNSUPPORTED */
async function anyPlaceOf(
  platform: FileNeeds,
  { sandbox_id: id, ...fields }: PlaceFields & { readonly sandbox_id?: string | undefined },
  call: OperationCall,
): Promise<ReachedPlace> {
  if (id === undefined) return filePlaceOf(platform, fields, call);
  const other = Object.entries(fields).find(([, value]) => value !== undefined);
  if (other !== undefined) throw invalidField(other[0], "to be left out beside sandbox_id", other[1]);
  const reached = await reachSandbox(platform, id, call);
  if (!reached.isHere) throw inOtherProcess(reached.id);
  const { sandbox } = reached;
  return {
    about: { sandbox_id: sandbox.id },
    startFolder: null,
    redaction: () => sandbox.redaction,
    use: async (work) => {
      const result = await work(sandbox.files, { signal: call.signal });
      return { result, restarted: false, warnings: [], toolingFiles: null };
    },
  };
}

/** Paths need no check: whatever they lead to is inside the sandbox. @throws INVALID_REQUEST for a relative one in a sandbox */
function absolutePath({ startFolder }: Pick<ReachedPlace, "startFolder">, path: string): string {
  if (path.startsWith("/")) return path;
  return startFolder === null ? insidePath(path) : `${startFolder}/${path}`;
}

function inOtherProcess(id: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Another process has ${id}, which sends no single files as bytes.`, {
    suggestion: "Copy them: `glovebox cp`, or copyIn and copyOut of the library.",
    context: { sandbox_id: id },
  });
}

function inEnvironment(environment: Environment, { signal }: OperationCall): FilePlace {
  return {
    about: { env_id: environment.spec.id },
    startFolder: projectFolder,
    redaction: () => environment.redaction(),
    use: (work, { writes }) => environment.useFiles(work, { writes, signal }),
  };
}

function inSession(session: Session, platform: FileNeeds, call: OperationCall): FilePlace {
  return {
    about: { session_id: session.id },
    startFolder: session.folder,
    redaction: () => session.secrets.redaction(),
    use: (work) => useFiles(session, { ...platform, listener: callListener(call) }, call, work),
  };
}

/** The same error, which may quote the file, with the values of secrets removed. */
function redacted(error: unknown, redaction: Redaction): unknown {
  if (!(error instanceof GloveboxError) || error.context["nearest"] === undefined) return error;
  const { errorType, message, suggestion, context } = error;
  const nearest = redaction.text(String(context["nearest"]));
  return new GloveboxError(errorType, redaction.text(message), { suggestion, context: { ...context, nearest } });
}

function shownTooling(files: FileUse<unknown>["toolingFiles"]): Pick<WriteFileResponse, "tooling_files"> {
  return files === null ? {} : { tooling_files: [...shortenTooling(files, maxToolingFiles)] };
}

function aboutUse(
  { about }: FilePlace,
  { restarted, warnings }: FileUse<unknown>,
  further: readonly string[] = [],
): FilePlace["about"] & { readonly restarted: boolean; readonly warnings: string[] } {
  return { ...about, restarted, warnings: [...warnings, ...further] };
}
