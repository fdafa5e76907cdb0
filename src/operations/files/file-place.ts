import type { PlatformParts } from "../handling/platform-parts.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import { workFolder } from "../../policy/scratch.ts";
import type { Environment } from "../../workloads/environment/environment.ts";
import { projectFolder } from "../../workloads/environment/environment-spec.ts";
import type { FileOptions, FileUse, FileWork } from "../../workloads/place/place-files.ts";
import { useFiles } from "../../workloads/session/files/use-files.ts";
import type { Session } from "../../workloads/session/session.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { assertOnePlace, type AboutPlace, type PlaceFields } from "../handling/one-place.ts";
import { callListener } from "../handling/call-events.ts";
import { sessionOf } from "../session/session-of.ts";

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
    startFolder: workFolder,
    redaction: () => session.secrets.redaction(),
    use: (work) => useFiles(session, { ...platform, listener: callListener(call) }, call, work),
  };
}
