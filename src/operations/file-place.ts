import type { PlatformParts } from "./handling/platform-parts.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import type { Redaction } from "../policy/redaction.ts";
import type { Environment } from "../workloads/environment/environment.ts";
import { projectFolder } from "../workloads/environment/environment-spec.ts";
import type { FileOptions, FileUse, FileWork } from "../workloads/place/place-files.ts";
import { insidePath } from "../sandbox/files/inside-path.ts";
import { useFiles } from "../workloads/session/use-files.ts";
import type { Session } from "../workloads/session/session.ts";
import type { OperationCall } from "./contract/operation-call.ts";
import { assertOnePlace, type AboutPlace, type PlaceFields } from "./handling/one-place.ts";
import { callListener } from "./handling/call-events.ts";
import { reachSandbox } from "./sandboxes/reach-sandbox.ts";
import { sessionOf } from "./session/session-of.ts";

/** What files belong to: an environment or a session. */
export interface FilePlace {
  readonly about: AboutPlace;
  /** Where its programs start; relative paths are below it. */
  readonly startFolder: string;
  /** Removes the secrets that its programs have been given. */
  readonly redaction: () => Redaction;
  /** @throws what opening the place's sandbox and the work throw */
  use<T>(work: FileWork<T>, options: Pick<FileOptions, "writes">): Promise<FileUse<T>>;
}

/** The same, or a live sandbox, in which no folder is the one that programs start in. */
export interface ReachedPlace extends Pick<FilePlace, "use"> {
  readonly about: AboutPlace | { readonly sandbox_id: string };
  readonly startFolder: string | null;
  /** Null: nothing is removed. */
  readonly redaction: () => Redaction | null;
}

/** The place that a request means; it must already exist. @throws INVALID_REQUEST, NOT_FOUND */
export async function filePlaceOf(
  platform: PlatformParts,
  fields: PlaceFields,
  call: OperationCall,
): Promise<FilePlace> {
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
export async function writablePlaceOf(
  platform: PlatformParts,
  fields: PlaceFields,
  call: OperationCall,
): Promise<FilePlace> {
  assertOnePlace(fields);
  if (fields.env_id !== undefined) return filePlaceOf(platform, fields, call);
  const { session } = await sessionOf(platform, { session_id: fields.session_id }, call);
  return inSession(session, platform, call);
}

/** An environment, a session or a live sandbox; it must already exist. @throws INVALID_REQUEST, NOT_FOUND, UNSUPPORTED */
export async function anyPlaceOf(
  platform: PlatformParts,
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
export function absolutePath({ startFolder }: Pick<ReachedPlace, "startFolder">, path: string): string {
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

function inSession(session: Session, platform: PlatformParts, call: OperationCall): FilePlace {
  return {
    about: { session_id: session.id },
    startFolder: session.folder,
    redaction: () => session.secrets.redaction(),
    use: (work) => useFiles(session, { ...platform, listener: callListener(call) }, call, work),
  };
}
