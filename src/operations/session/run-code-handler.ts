import { textBytes } from "../../base/streams/chunks.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { checkArguments } from "../../policy/request/arguments.ts";
import { checkEnvironment } from "../../policy/request/environment.ts";
import { checkCode } from "../../policy/request/code.ts";
import { codingNotices } from "../../policy/request/coding-line.ts";
import { checkPackages, ecosystemOf } from "../../policy/package-specs.ts";
import { runInSession } from "../../workloads/session/run-in-session.ts";
import type { SessionCall } from "../../workloads/session/session-call.ts";
import { usualIn } from "../../workloads/session/variables/contexts.ts";
import { allowedNetwork, explicitDemands, requestedLimits } from "../handling/settle.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { handle } from "../handling/handler.ts";
import { programToWire } from "../handling/program-to-wire.ts";
import { resultAlertsSince } from "../handling/result-alerts.ts";
import { checkRuntime } from "../../policy/request/runtime.ts";
import { readSecrets } from "../handling/read-secrets.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import { runCodeContract, type RunCodeResponse } from "./run-code-contract.ts";
import { callListener } from "../handling/call-events.ts";
import { noContexts } from "./contexts-handler.ts";
import { sessionOf } from "./session-of.ts";

type Request = RequestOf<typeof runCodeContract>;

/** `run_code`: runs a program in a session, which keeps its files. */
export const runCodeHandler = handle(runCodeContract, run);

async function run(platform: PlatformParts, request: Request, call: OperationCall): Promise<RunCodeResponse> {
  const checked = await callOf(platform, { ...request, ...inContext(platform, request, call) }, call);
  const { session, notes: sessionNotes } = await sessionOf(platform, request, call);
  const { keepsVariables } = session.settings;
  if (keepsVariables) assertKeepable(request, call, checked);
  // A kept interpreter gets text, and ignores the line.
  const notes = [...sessionNotes, ...(keepsVariables ? [] : codingNotices(checked.code, checked.language))];
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
  { sessions }: PlatformParts,
  { context: name, session_id: id, language, runtime, keep_variables: keeps }: Request,
  call: OperationCall,
): Pick<Request, "language" | "runtime"> {
  if (name === undefined) return {};
  const session = sessions.find(id, call);
  if (!(session?.settings.keepsVariables ?? keeps ?? false)) throw noContexts(name);
  const usual = usualIn(name, session?.contexts.find(name));
  const chosen = language ?? usual.language;
  return { language: chosen, runtime: runtime ?? (chosen === "python" ? undefined : usual.runtime) };
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
async function callOf(platform: PlatformParts, request: Request, call: OperationCall): Promise<SessionCall> {
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
