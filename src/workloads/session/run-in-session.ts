import { untilCancelled } from "../../base/abort.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Logger } from "../../base/logger.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import { checkMainFile } from "../../policy/request/main-file.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { compileFiles, type CompiledFiles } from "../program/compile/compile-files.ts";
import type { Toolchain } from "../program/languages.ts";
import { plainException } from "./variables/plain-exception.ts";
import type { CallException } from "./variables/read-report.ts";
import { interpreterKind } from "./variables/start-interpreter.ts";
import type { MakeNotebookCode } from "./variables/notebook/make-notebook-code.ts";
import { describeWork } from "../run/describe-work.ts";
import { loggingFailure, type RunIds } from "../run/log-ending.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import { syntaxFailure } from "../program/syntax/syntax-failure.ts";
import type { CompileTypeScript } from "../program/compile/typescript-compiler.ts";
import type { Packages } from "../../packages/packages.ts";
import type { FindImports } from "../program/find-imports.ts";
import { needsOfCall, type CallNeeds } from "./needs-of-call.ts";
import { chooseToolchain } from "../program/choose-toolchain.ts";
import { checkEngine } from "../program/check-engine.ts";
import { refusedResult, type RunResult } from "../run/program-result.ts";
import type { ProvideImage } from "../program/ensure-image.ts";
import type { OpeningListener } from "./open-session-sandbox.ts";
import { prepareNext } from "./prepare-next.ts";
import { programVariables } from "./program-variables.ts";
import type { OpenLargeScratch } from "../run/disk/open-large-scratch.ts";
import { runCall } from "./run-call.ts";
import type { SessionCall } from "./session-call.ts";
import type { SessionResult } from "./session-result.ts";
import type { Session } from "./session.ts";
import type { Context } from "./variables/contexts.ts";

export interface SessionDependencies {
  readonly sandboxes: Sandboxes;
  readonly provideImage: ProvideImage;
  readonly packages: Pick<Packages, "provide" | "openView" | "installsFor">;
  readonly findImports: FindImports;
  readonly logger: Logger;
  /** Cap of each output stream in bytes (SPEC OU3). */
  readonly maxOutputBytes: number;
  readonly compileTypeScript: CompileTypeScript;
  readonly makeNotebookCode: MakeNotebookCode;
  readonly network: GrantNetwork;
  readonly openLargeScratch: OpenLargeScratch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/** What a call reports while it runs. */
export interface SessionListener extends OpeningListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
}

/**
 * Runs a program in the session when it is its turn (SPEC SE1): a fresh interpreter, the files of the calls before.
 *
 * A program that fails, runs out of time or memory, or does not compile is a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, and CANCELLED when given up before it started
 */
export function runInSession(
  session: Session,
  call: SessionCall,
  dependencies: SessionDependencies,
  follow: Follow,
): Promise<SessionResult> {
  const ids: RunIds = { id: follow.caller.runId, principal: session.principal, session: session.id };
  return loggingFailure(dependencies.logger, ids, () => runAs(ids, session, call, { dependencies, ...follow }));
}

/** Who asks, and who is told. */
interface Follow {
  readonly caller: Caller;
  readonly listener: SessionListener;
}

async function runAs(
  ids: RunIds,
  session: Session,
  call: SessionCall,
  { dependencies, caller, listener }: Follow & { readonly dependencies: SessionDependencies },
): Promise<SessionResult> {
  const { engine, ociRuntime } = session.settings;
  const { capabilities, warnings } = await checkEngine(session.settings, call, caller);
  if (Object.keys(call.variables).length > 0 && runsInterpretersOnly(capabilities)) throw noVariables(engine.name);
  const toolchain = chooseToolchain({ ...call, usual: "bun" }, capabilities, engine.name);
  const { keepsVariables } = session.settings;
  const context = keepsVariables ? session.contexts.ofCall(call.context, { ...call, toolchain }) : null;
  // From now on, also while its code is compiled.
  const stopped = context?.stopped;
  const mine = stopped === undefined ? caller : untilStopped(caller, stopped);
  const compiled = await preparedCode(call, toolchain, keepsVariables, dependencies, caller);
  const facts = {
    sessionId: session.id,
    engine: engine.name,
    isolation: capabilities.isolation,
    ociRuntime: ociRuntime ?? null,
    context: context?.name ?? null,
  };
  if ("syntaxError" in compiled) {
    const refused = refusedResult(syntaxFailure(compiled.syntaxError), warnings);
    const exception = keepsVariables ? syntaxException(refused, session.secrets.redaction()) : null;
    return { ...facts, ...refused, restarted: false, packages: [], displays: [], exception, variablesLost: null };
  }
  const grant = await untilCancelled(dependencies.network.grant(call.network, caller.principal), caller.signal);
  // Where nothing can be installed, the program has what its image or the host has.
  const place = { capabilities, image: session.settings.image, runNetwork: call.network };
  const packages = call.packages === "auto" && !dependencies.packages.installsFor(place) ? [] : call.packages;
  const wanted = { settings: session.settings, call: { ...call, packages }, runNetwork: call.network };
  const needs = needsOfCall({ ...dependencies, listener, ...wanted });
  return useWith(session, needs, mine, context, async (opened, { signal }) => {
    const { live, before, restarted } = opened;
    ids.sandbox = live.id;
    session.secrets.add(call.secrets);
    const work = describeWork(call.language, call.code, session.secrets.redaction());
    const record = (ids.record = live.sandbox.beginRun({ ...ids, ...call, work }));
    listener.onSandbox(live.id);
    const hadLost = context !== null && context.hasVariables && !live.keepsVariablesOf(context);
    if (context !== null) context.lastUsedAtMs = dependencies.now();
    const result = await runCall(live, {
      ...dependencies,
      context,
      ...listener,
      ids,
      record,
      call,
      redaction: session.secrets.redaction(),
      toolchain,
      files: compiled.files,
      grant,
      // An interpreter that goes on has those of one call until its end.
      environment: programVariables(live, grant, {
        ...call.hostEnvironment,
        ...(keepsVariables ? {} : call.variables),
      }),
      before,
      signal,
    });
    const endsNow = context !== null && !live.keepsVariablesOf(context);
    if (context !== null) {
      context.hasVariables = !endsNow;
      context.lastUsedAtMs = dependencies.now();
    }
    if (endsNow) live.runner.prepare(interpreterKind(context));
    else if (!keepsVariables)
      prepareNext(live, {
        call,
        toolchain,
        outcome: result.outcome,
        hasProcesses: session.processes.running.length > 0,
      });
    const variables = [
      hadLost ? goneBefore : [],
      endsNow ? goneNow : [],
      stopped?.aborted === true ? stoppedNow : [],
    ].flat();
    const notes = [
      needs.notes,
      live.packages.warnings,
      live.profile.scratch.note ?? [],
      opened.warnings,
      variables,
    ].flat();
    const packages = live.packages.resolved(needs.ecosystem, needs.wanted);
    const variablesLost = keepsVariables ? variables.length > 0 : null;
    return {
      ...facts,
      ...result,
      restarted,
      packages,
      variablesLost,
      warnings: [...warnings, ...notes, ...result.warnings],
    };
  });
}

function isCancelled(error: unknown): error is GloveboxError {
  return error instanceof GloveboxError && error.errorType === "CANCELLED";
}

/** The caller, who also gives up when the call's context is restarted or ended. */
function untilStopped(caller: Caller, stopped: AbortSignal): Caller {
  return { ...caller, signal: AbortSignal.any([stopped, ...(caller.signal === undefined ? [] : [caller.signal])]) };
}

/** The exception of a call that was refused before its interpreter saw it. */
function syntaxException({ error, stderr }: RunResult, redaction: Redaction): CallException {
  const exception = { name: "SyntaxError", value: error?.message ?? "", traceback: stderr.trimEnd() };
  return plainException(exception, redaction);
}

/** The call's code as its interpreter takes it: one that keeps variables, or a fresh one. */
async function preparedCode(
  { language, code }: SessionCall,
  toolchain: Toolchain,
  keepsVariables: boolean,
  { makeNotebookCode, compileTypeScript: compile }: SessionDependencies,
  { signal }: Caller,
): Promise<CompiledFiles> {
  const path = checkMainFile(undefined, language);
  if (keepsVariables && language !== "python") return makeNotebookCode({ path, language, code }, { signal });
  return compileFiles([{ path, content: Buffer.from(code) }], toolchain, { compile, signal });
}

/** Uses the session, without packages that cannot be installed and that the program may do without. */
async function useWith<T>(
  session: Session,
  needs: CallNeeds,
  caller: Caller,
  context: Context | null,
  work: Parameters<typeof session.use<T>>[2],
): Promise<T> {
  try {
    return await session.use(caller, needs, work, context);
  } catch (error) {
    const reason: unknown = caller.signal?.reason;
    if (isCancelled(error) && isCancelled(reason)) throw reason;
    if (!needs.leaveOut(error)) throw needs.explain(error);
    return useWith(session, needs, caller, context, work);
  }
}

/** There they could change the guard that the program runs behind. */
function noVariables(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} gives calls of a session no environment variables here.`, {
    suggestion:
      "Leave environment out, use execute_code, or choose an engine whose isolation is at least namespaces for the session.",
    context: { engine, field: "environment" },
  });
}

const stoppedNow = "The context was restarted or ended during this call.";
const goneBefore =
  "The variables of earlier calls are gone: their interpreter had ended. This call has begun without them, in a new one.";
const goneNow =
  "The interpreter has ended with this call, and all variables are gone: the next call begins without any.";
