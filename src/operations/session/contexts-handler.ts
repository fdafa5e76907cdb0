import { GloveboxError } from "../../errors/glovebox-error.ts";
import { checkRuntime } from "../../policy/request/runtime.ts";
import { resolveWorkingDirectory } from "../../policy/request/working-directory.ts";
import { chooseToolchain } from "../../workloads/program/choose-toolchain.ts";
import type { Session } from "../../workloads/session/session.ts";
import type { Context } from "../../workloads/session/variables/contexts.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { handle } from "../handling/handler.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import {
  createContextContract,
  endContextContract,
  interruptContextContract,
  listContextsContract,
  restartContextContract,
  type ContextRow,
} from "./contexts-contract.ts";

/** `create_context`: variables apart from others of a session. */
export const createContextHandler = handle(createContextContract, async (platform, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  const { language = "typescript", context: name } = request;
  const runtime = checkRuntime(request.runtime, language);
  const workingDirectory = resolveWorkingDirectory(request.cwd, session.folder);
  const { engine, ociRuntime } = session.settings;
  const capabilities = await engine.capabilities({ signal: call.signal, ociRuntime });
  const toolchain = chooseToolchain({ language, runtime, usual: "bun" }, capabilities, engine.name);
  return rowOf(session, session.contexts.create({ name, language, toolchain, workingDirectory }));
});

/** `list_contexts`: those of one session. */
export const listContextsHandler = handle(listContextsContract, async (platform, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  return { session_id: session.id, contexts: session.contexts.all.map((context) => rowOf(session, context)) };
});

/** `interrupt_context`: the running call ends, and variables stay. */
export const interruptContextHandler = handle(interruptContextContract, async (platform, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  const context = session.contexts.get(request.context);
  await session.interruptContext(context);
  return rowOf(session, context);
});

/** `restart_context`: the next call begins without variables. */
export const restartContextHandler = handle(restartContextContract, async (platform, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  const context = session.contexts.get(request.context);
  await session.stopContext(context, "restarted");
  return rowOf(session, context);
});

/** `end_context`: frees its interpreter and its name. */
export const endContextHandler = handle(endContextContract, async (platform, request, call) => {
  const session = sessionWithContexts(platform, request, call);
  const context = session.contexts.get(request.context);
  session.contexts.remove(context);
  await session.stopContext(context, "ended");
  return { session_id: session.id, context: context.name };
});

/** The refusal of a context in a session that keeps no variables. */
export function noContexts(name: string | undefined): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", "A session without keep_variables has no contexts.", {
    suggestion: "Open a session with keep_variables: true, or leave context out.",
    context: { field: "context", ...(name === undefined ? {} : { context: name }) },
  });
}

/** @throws NOT_FOUND, INVALID_REQUEST */
function sessionWithContexts(
  { sessions }: PlatformParts,
  { session_id: id, context }: { readonly session_id: string; readonly context?: string },
  call: OperationCall,
): Session {
  const session = sessions.find(id, call);
  if (session === null) throw new GloveboxError("NOT_FOUND", "There is no such session.");
  if (!session.settings.keepsVariables) throw noContexts(context);
  return session;
}

function rowOf(session: Session, context: Context): ContextRow {
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
