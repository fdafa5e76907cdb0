import { textBytes } from "../base/streams/chunks.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { checkArguments, checkCode, checkRuntime } from "../policy/request/requested-program.ts";
import { checkEnvironment } from "../policy/request/environment-variables.ts";
import { checkPackages, ecosystemOf } from "../policy/install-policy.ts";
import { runInSession, type SessionDependencies } from "../workloads/session/run-in-session.ts";
import type { SessionCall } from "../workloads/session/session-call.ts";
import { usualIn, type Context } from "../workloads/session/variables/contexts.ts";
import {
  allowedNetwork,
  explicitDemands,
  requestedLimits,
  isDiskNamed,
  readSecrets,
  type StartNeeds,
  type EngineChooser,
} from "./settle.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { handle } from "./handler.ts";
import { programToWire, resultAlertsSince, callListener, limitsToWire } from "./to-wire.ts";
import {
  runCodeContract,
  getSessionContract,
  listSessionsContract,
  openSessionContract,
  endSessionContract,
  createContextContract,
  endContextContract,
  interruptContextContract,
  listContextsContract,
  restartContextContract,
  type RunCodeResponse,
  type SessionRow,
  type ContextRow,
} from "./session-contract.ts";
import type { Session } from "../workloads/session/session.ts";
import { hasLabels, type LimitsRequest } from "./contract/request-schemas.ts";
import { resolveWorkingDirectory } from "../policy/request/request-paths.ts";
import { chooseRuntime } from "../languages/choose-runtime.ts";
import { codeNotices, languageOf } from "../languages/language-table.ts";
import { runsInterpretersOnly } from "../engines/capabilities.ts";
import type { EngineName } from "../engines/engine.ts";
import { isolationRefusal } from "../engines/assert-enforceable.ts";
import { isSameImage } from "../policy/image-reference.ts";
import { isAtLeast, type Isolation } from "../policy/isolation.ts";
import { limitFieldNames, limitFields, toField, type Limits } from "../policy/limits.ts";
import { noImagesHere } from "../workloads/program/ensure-image.ts";
import type { Sessions } from "../workloads/session/sessions.ts";

/** What runs in sessions needs, and what opens them. */
export interface SessionNeeds
  extends StartNeeds, Pick<EngineChooser, "chooseSessionEngine">, Omit<SessionDependencies, "maxOutputBytes"> {
  readonly sessions: Sessions;
}

type Request = RequestOf<typeof runCodeContract>;

/** `run_code`: runs a program in a session, which keeps its files. */
export const runCodeHandler = handle(runCodeContract, run);

/** `open_session`: a new session, even if the connection already has one. */
export const openSessionHandler = handle(
  openSessionContract,
  async (platform: SessionNeeds, request, { connection: _, ...call }) => {
    // Without a connection there is no shared session.
    const { session, notes } = await sessionOf(platform, request, call);
    return { ...sessionRow(session), warnings: [...notes] };
  },
);

/** `list_sessions`: the caller's own. */
export const listSessionsHandler = handle(
  listSessionsContract,
  ({ sessions }: SessionNeeds, { label }, { principal }) => {
    const own = sessions.list(principal).filter(({ settings }) => hasLabels(settings.labels, label));
    return Promise.resolve({ sessions: own.map(sessionRow) });
  },
);

/** `get_session`: one of the caller's own. */
export const getSessionHandler = handle(
  getSessionContract,
  async ({ sessions }: SessionNeeds, { session_id: id }, call) => {
    const session = sessions.find(id, call);
    if (session === null) throw new GloveboxError("NOT_FOUND", "There is no such session.");
    return sessionRow(session);
  },
);

/** `end_session`: removes the session's sandbox and its files. */
export const endSessionHandler = handle(endSessionContract, async ({ sessions }: SessionNeeds, request, call) => {
  const session = sessions.find(request.session_id, call);
  if (session !== null) await sessions.end(session);
  return { session_id: session?.id ?? null };
});

/** `create_context`: variables apart from others of a session. */
export const createContextHandler = handle(createContextContract, async (platform: SessionNeeds, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  const { language = "typescript", context: name } = request;
  const runtime = checkRuntime(request.runtime, language);
  const workingDirectory = resolveWorkingDirectory(request.cwd, session.folder);
  const { engine, ociRuntime } = session.settings;
  const capabilities = await engine.capabilities({ signal: call.signal, ociRuntime });
  const toolchain = chooseRuntime({ language, runtime, usual: "session" }, capabilities, engine.name);
  return contextRow(session, session.contexts.create({ name, language, toolchain, workingDirectory }));
});

/** `list_contexts`: those of one session. */
export const listContextsHandler = handle(listContextsContract, async (platform: SessionNeeds, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  return { session_id: session.id, contexts: session.contexts.all.map((context) => contextRow(session, context)) };
});

/** `interrupt_context`: the running call ends, and variables stay. */
export const interruptContextHandler = handle(
  interruptContextContract,
  async (platform: SessionNeeds, request, call) => {
    const session = sessionWithContexts(platform, request, call);
    const context = session.contexts.get(request.context);
    await session.interruptContext(context);
    return contextRow(session, context);
  },
);

/** `restart_context`: the next call begins without variables. */
export const restartContextHandler = handle(restartContextContract, async (platform: SessionNeeds, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  const context = session.contexts.get(request.context);
  await session.stopContext(context, "restarted");
  return contextRow(session, context);
});

/** `end_context`: frees its interpreter and its name. */
export const endContextHandler = handle(endContextContract, async (platform: SessionNeeds, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  const context = session.contexts.get(request.context);
  session.contexts.remove(context);
  await session.stopContext(context, "ended");
  return { session_id: session.id, context: context.name };
});

/** The parts of a request that decide which session it gets, and how a new one is created. */
interface SessionRequest {
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
  platform: SessionNeeds,
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

async function run(platform: SessionNeeds, request: Request, call: OperationCall): Promise<RunCodeResponse> {
  const checked = await callOf(platform, { ...request, ...inContext(platform, request, call) }, call);
  const { session, notes: sessionNotes } = await sessionOf(platform, request, call);
  const { keepsVariables } = session.settings;
  if (keepsVariables) assertKeepable(request, call, checked);
  // A kept interpreter gets text, and ignores the line.
  const notes = [...sessionNotes, ...(keepsVariables ? [] : codeNotices(checked.code, checked.language))];
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const { mark } = platform.alertBook;
  const result = await runInSession(
    session,
    { ...checked, minIsolation: request.min_isolation ?? session.settings.minIsolation },
    { ...platform, maxOutputBytes: platform.config.maxOutputBytes },
    { caller: call, listener: callListener(call, session.settings.name) },
  );
  const shown = result.displays.map(({ value, isResult, mediaType, encoding, content }) => ({
    value,
    is_result: isResult,
    media_type: mediaType,
    encoding,
    content,
  }));
  return {
    session_id: result.sessionId,
    container_id: result.sandboxId,
    restarted: result.restarted,
    packages_installed: [...result.packages],
    ...(result.context === null ? {} : { context: result.context }),
    ...(result.variablesLost === null ? {} : { displays: shown, variables_lost: result.variablesLost }),
    ...(result.exception === null ? {} : { exception: result.exception }),
    ...programToWire(result, notes, { kind: "session", ceilings: platform.config.ceilings }),
    ...resultAlertsSince(platform.alertBook, mark, result.sandboxId),
  };
}

/**
 * The language and the runtime of a call in a context, which are the context's unless the call says otherwise.
 * @throws INVALID_REQUEST in a session that keeps no variables
 */
function inContext(
  { sessions }: SessionNeeds,
  { context: name, session_id: id, language, runtime, keep_variables: keeps }: Request,
  call: OperationCall,
): Pick<Request, "language" | "runtime"> {
  if (name === undefined) return {};
  const session = sessions.find(id, call);
  if (!(session?.settings.keepsVariables ?? keeps ?? false)) throw noContexts(name);
  const usual = usualIn(name, session?.contexts.find(name));
  const chosen = language ?? usual.language;
  const fits = chosen === undefined || languageOf(chosen).runtimes.some((each) => each.name === usual.runtime);
  return { language: chosen, runtime: runtime ?? (fits ? usual.runtime : undefined) };
}

/** What only one call may have cannot be taken away again from an interpreter that keeps running. */
function assertKeepable({ stdin = "", secrets = [] }: Request, call: OperationCall, { network }: SessionCall): void {
  const asked = [
    stdin !== "" || call.stdin !== undefined ? ["stdin"] : [],
    Object.keys(secrets).length > 0 ? ["secrets"] : [],
    network.kind !== "none" ? ["network"] : [],
  ].flat();
  if (asked.length === 0) return;
  throw new GloveboxError("UNSUPPORTED", `${asked.join(", ")}: programs of a session with keep_variables have none.`, {
    suggestion: "Leave it out, write a file instead of input, or use another session or execute_code for this call.",
    context: { field: asked[0] },
  });
}

/** Everything is checked before anything is started. */
async function callOf(platform: SessionNeeds, request: Request, call: OperationCall): Promise<SessionCall> {
  const { config } = platform;
  const { language = "typescript" } = request;
  const network = allowedNetwork(request.network, platform);
  const variables = checkEnvironment(request.environment ?? {});
  return {
    language,
    context: request.context,
    runtime: checkRuntime(request.runtime, language),
    code: checkCode(request.code, language),
    arguments: checkArguments(request.args ?? []),
    stdin: call.stdin ?? textBytes(request.stdin ?? ""),
    secrets: await readSecrets(platform, request.secrets ?? [], {
      principal: call.principal,
      kind: "session",
      taken: Object.keys(variables),
    }),
    variables,
    hostEnvironment: config.hostEnvironment,
    packages:
      request.packages === undefined || request.packages === "auto"
        ? "auto"
        : checkPackages(request.packages, ecosystemOf(language)),
    network,
    timeoutMs: requestedLimits("session", request, config).timeoutMs,
    minIsolation: platform.minIsolation("session", request.min_isolation),
    explicitDemands: explicitDemands("session", request, config.explicitSettings),
  };
}

function sessionRow({ id, settings, folder, processes, sandboxId, createdAtMs }: Session): SessionRow {
  return {
    session_id: id,
    name: settings.name ?? null,
    engine: settings.engine.name,
    image: settings.image,
    ...(settings.ociRuntime === undefined ? {} : { oci_runtime: settings.ociRuntime }),
    min_isolation: settings.minIsolation,
    sandbox_id: sandboxId,
    limits: limitsToWire(settings.limits),
    keep_variables: settings.keepsVariables,
    home: folder,
    labels: { ...settings.labels },
    created_at: new Date(createdAtMs).toISOString(),
    running_processes: processes.running.length,
  };
}

/** The refusal of a context in a session that keeps no variables. */
function noContexts(name: string | undefined): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", "A session without keep_variables has no contexts.", {
    suggestion: "Open a session with keep_variables: true, or leave context out.",
    context: { field: "context", ...(name === undefined ? {} : { context: name }) },
  });
}

/** @throws NOT_FOUND, INVALID_REQUEST */
function sessionWithContexts(
  { sessions }: SessionNeeds,
  { session_id: id, context }: { readonly session_id: string; readonly context?: string },
  call: OperationCall,
): Session {
  const session = sessions.find(id, call);
  if (session === null) throw new GloveboxError("NOT_FOUND", "There is no such session.");
  if (!session.settings.keepsVariables) throw noContexts(context);
  return session;
}

function contextRow(session: Session, context: Context): ContextRow {
  const { lastUsedAtMs: usedAtMs } = context;
  return {
    context: context.name,
    language: context.language,
    runtime: context.toolchain,
    cwd: context.workingDirectory,
    running: session.isRunning(context),
    created_at: new Date(context.createdAtMs).toISOString(),
    last_used_at: usedAtMs === null ? null : new Date(usedAtMs).toISOString(),
  };
}
