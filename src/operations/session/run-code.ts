import type { z } from "zod";
import { textBytes } from "../../base/streams/chunks.ts";
import type { Platform } from "../../platform/platform.ts";
import { checkArguments } from "../../policy/request/arguments.ts";
import { checkCode } from "../../policy/request/code.ts";
import { assertNetworkAllowed, parseNetwork } from "../../policy/network/network.ts";
import { checkPackages, ecosystemOf } from "../../policy/package-specs.ts";
import { runInSession } from "../../workloads/session/run-in-session.ts";
import type { SessionCall } from "../../workloads/session/session-call.ts";
import { explicitDemands } from "../explicit-demands.ts";
import type { Operation, OperationCall } from "../operation.ts";
import { programToWire } from "../program-response.ts";
import { readSecrets } from "../read-secrets.ts";
import { requestedLimits } from "../requested-limits.ts";
import { runCodeRequestSchema, runCodeResponseSchema, type RunCodeResponse } from "./schema.ts";
import { sessionListener } from "./session-listener.ts";
import { sessionOf } from "./session-of.ts";

type Request = z.output<typeof runCodeRequestSchema>;

/** `run_code`: a program in a session, whose files last. */
export const runCodeOperation: Operation<typeof runCodeRequestSchema, typeof runCodeResponseSchema, Platform> = {
  name: "run_code",
  description: [
    "Runs a TypeScript, JavaScript or Python program in a session: a sandbox of its own whose files last from call to call.",
    "Use it for work in several steps. Each call is a fresh program: variables, imports and processes of earlier calls are gone,",
    "files in the current folder (/work) are there. Print what you want to know: the value of the last expression is not shown.",
    "TypeScript and JavaScript run under Bun. The program's own file is /code/main.ts (main.js, main.py), so import files of earlier calls",
    'by their absolute path, such as "/work/helper.ts". Calls of one session run one after another.',
    "Packages that the code imports are installed first; `packages` names them with their versions.",
    'The program has no network unless `network` asks for it (such as "registries" or ["example.com"]) and sees no file of the host.',
    "The answer's session_id names the session for later calls. If `restarted` is true the sandbox is a new one: warnings say whether its files were lost.",
    "A program that fails is an answer, not an error: read `outcome`, `exit_code`, `stderr` and, where present, `error.suggestion`.",
  ].join(" "),
  request: runCodeRequestSchema,
  response: runCodeResponseSchema,
  run,
};

async function run(platform: Platform, request: Request, call: OperationCall): Promise<RunCodeResponse> {
  const checked = await callOf(platform, request, call);
  const { session, notes } = await sessionOf(platform, request, call);
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const result = await runInSession(
    session,
    { ...checked, minIsolation: request.min_isolation ?? session.settings.minIsolation },
    { ...platform, maxOutputBytes: platform.config.maxOutputBytes },
    { caller: call, listener: sessionListener(call) },
  );
  return {
    session_id: result.sessionId,
    container_id: result.sandboxId,
    restarted: result.restarted,
    packages_installed: [...result.packages],
    ...programToWire(result, notes),
  };
}

/** Everything is checked before anything is started. */
async function callOf(platform: Platform, request: Request, call: OperationCall): Promise<SessionCall> {
  const { config } = platform;
  const { language = "typescript" } = request;
  const network = parseNetwork(request.network);
  assertNetworkAllowed(network, config.network);
  return {
    language,
    code: checkCode(request.code),
    arguments: checkArguments(request.args ?? []),
    stdin: call.stdin ?? textBytes(request.stdin ?? ""),
    secrets: await readSecrets(platform, request.secrets ?? [], {
      principal: call.principal,
      kind: "session",
      taken: [],
    }),
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
