import { isDiskNamed, requestedLimits } from "../handling/settle.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import type { EngineName } from "../../engines/engine.ts";
import { isolationRefusal } from "../../engines/isolation-refusal.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { isSameImage } from "../../policy/image-reference.ts";
import { isAtLeast, type Isolation } from "../../policy/isolation.ts";
import { limitFieldNames, limitFields, toField } from "../../policy/limit-fields.ts";
import type { Limits } from "../../policy/limits.ts";
import type { Session } from "../../workloads/session/session.ts";
import { noImagesHere } from "../../workloads/program/ensure-image.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { LimitsRequest } from "../contract/run-settings-schema.ts";

/** The parts of a request that decide which session it gets, and how a new one is created. */
export interface SessionRequest {
  readonly session_id?: string | undefined;
  readonly engine?: string | undefined;
  readonly image?: string | undefined;
  readonly oci_runtime?: string | undefined;
  readonly limits?: LimitsRequest | undefined;
  readonly min_isolation?: Isolation | undefined;
  readonly keep_variables?: boolean | undefined;
  /** For a new one. */
  readonly home?: string | undefined;
  readonly name?: string | undefined;
  /** For a new one. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * The session that a request names, or its connection's, or a new one.
 * @throws NOT_FOUND, INVALID_REQUEST for settings that an existing session cannot change, ENGINE_UNAVAILABLE, CAPACITY
 */
export async function sessionOf(
  platform: PlatformParts,
  request: SessionRequest,
  call: OperationCall,
): Promise<{ readonly session: Session; readonly notes: readonly string[] }> {
  const limits = requestedLimits("session", request, platform.config);
  const image = request.image === undefined ? platform.config.images.session : platform.checkImage(request.image);
  const known = platform.sessions.find(request.session_id, call);
  if (known !== null) {
    assertSame(known, request, { limits, image });
    return { session: known, notes: [] };
  }
  const minIsolation = platform.minIsolation("session", request.min_isolation);
  const { engine, notes } = await platform.chooseSessionEngine(request.engine, { minIsolation, signal: call.signal });
  // A session that can never run anything would make all later calls fail that do not name another.
  const capabilities = await engine.capabilities({ signal: call.signal, ociRuntime: request.oci_runtime });
  if (!isAtLeast(capabilities.isolation, minIsolation)) {
    throw isolationRefusal(capabilities, { engine: engine.name, minIsolation });
  }
  if (request.image !== undefined && !capabilities.images) throw noImagesHere(engine.name, request.image);
  if (request.keep_variables === true && runsInterpretersOnly(capabilities)) throw noVariables(engine.name);
  // Another call of the connection may have opened it meanwhile.
  const session =
    platform.sessions.find(undefined, call) ??
    platform.sessions.create(
      {
        engine,
        image,
        imageOrigin: request.image === undefined ? "configured" : "request",
        ociRuntime: request.oci_runtime,
        limits,
        isDiskNamed: isDiskNamed("session", request, platform.config.explicitSettings),
        minIsolation,
        keepsVariables: request.keep_variables ?? false,
        home: request.home,
        labels: request.labels ?? {},
        name: request.name,
      },
      call,
    );
  return { session, notes };
}

/** A session keeps the settings it was opened with; time and network are set for each call. */
function assertSame(
  { settings }: Session,
  request: SessionRequest,
  { limits, image }: { readonly limits: Limits; readonly image: string },
): void {
  const refuse = (field: string, has: unknown, asked: unknown): never => {
    throw invalidField(field, `what this session was made with (${String(has)}), or another session`, String(asked));
  };
  const { engine, oci_runtime: runtime } = request;
  if (engine !== undefined && engine !== "auto" && engine !== settings.engine.name) {
    refuse("engine", settings.engine.name, engine);
  }
  if (request.image !== undefined && !isSameImage(image, settings.image)) refuse("image", settings.image, image);
  if (runtime !== undefined && runtime !== settings.ociRuntime) {
    refuse("oci_runtime", settings.ociRuntime ?? "the engine's own", runtime);
  }
  if (request.name !== undefined && request.name !== settings.name) {
    refuse("name", settings.name ?? "no name", request.name);
  }
  const { keep_variables: keeps } = request;
  if (keeps !== undefined && keeps !== settings.keepsVariables)
    refuse("keep_variables", settings.keepsVariables, keeps);
  for (const field of limitFieldNames) {
    if (field === "timeout_seconds" || request.limits?.[field] === undefined) continue;
    const { limit } = limitFields[field];
    if (limits[limit] !== settings.limits[limit]) {
      refuse(`limits.${field}`, toField(field, settings.limits), toField(field, limits));
    }
  }
}

function noVariables(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot keep an interpreter running in a session here.`, {
    suggestion:
      "Choose an engine whose isolation is at least namespaces, or leave keep_variables out and keep values in files.",
    context: { engine, field: "keep_variables", missing: "programs" },
  });
}
