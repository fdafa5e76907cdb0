import { textBytes } from "../../base/streams/chunks.ts";
import type { Platform } from "../../platform/platform.ts";
import { checkArguments } from "../../policy/request/arguments.ts";
import { parseGlobs } from "../../policy/patterns/glob.ts";
import { checkCode } from "../../policy/request/code.ts";
import { checkContextFiles, type ContextFile } from "../../policy/request/context-files.ts";
import { checkEnvironment } from "../../policy/request/environment.ts";
import { checkImageReference } from "../../policy/image-reference.ts";
import { checkMainFile } from "../../policy/request/main-file.ts";
import { assertNetworkAllowed, parseNetwork } from "../../policy/network/network.ts";
import { checkPackages, ecosystemOf } from "../../policy/package-specs.ts";
import { execute } from "../../workloads/execute/execute.ts";
import type { ExecuteResult } from "../../workloads/execute/execute-result.ts";
import type { ExecuteSpec } from "../../workloads/execute/execute-spec.ts";
import type { ProgramSecret } from "../../sandbox/secrets/program-secret.ts";
import type { Operation, OperationCall } from "../operation.ts";
import { explicitDemands } from "../explicit-demands.ts";
import { programToWire } from "../program-response.ts";
import { pullEvent } from "../image-events.ts";
import { requestedLimits } from "../requested-limits.ts";
import { readSecrets } from "../read-secrets.ts";
import { readContextFiles } from "./context-files.ts";
import { executeRequestSchema, executeResponseSchema, type ExecuteResponse } from "./schema.ts";
import type { z } from "zod";

type Request = z.output<typeof executeRequestSchema>;

/** `execute_code`: a program in a fresh sandbox that is removed right after. */
export const executeOperation: Operation<typeof executeRequestSchema, typeof executeResponseSchema, Platform> = {
  name: "execute_code",
  description: [
    "Runs a Python, JavaScript or TypeScript program in a fresh sandbox that no other run ever sees, and removes it right after.",
    "Use it for anything that can be computed, parsed, checked or plotted in one program. Print what you want to know:",
    "the value of the last expression is not shown. Nothing survives the call; return files with `artifacts`.",
    'The program has no network unless `network` asks for it (such as "registries" or ["example.com"]), sees no file of the host',
    "but `context_files`, and has the standard library of its language only.",
    "A program that fails is an answer, not an error: read `outcome`, `exit_code`, `stderr` and, where present, `error.suggestion`.",
  ].join(" "),
  request: executeRequestSchema,
  response: executeResponseSchema,
  run,
};

async function run(platform: Platform, request: Request, call: OperationCall): Promise<ExecuteResponse> {
  const { contextFiles, notices } = await readContextFiles(platform, request.context_files ?? []);
  const secrets = await readSecrets(platform, request.secrets ?? [], {
    principal: call.principal,
    kind: "execute",
    taken: Object.keys(request.environment ?? {}),
  });
  const spec = specOf(platform, request, call, { contextFiles, secrets });
  const { engine, notes: engineNotes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    signal: call.signal,
  });
  const notes = [...notices, ...engineNotes];
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const result = await execute(
    spec,
    {
      engine,
      sandboxes: platform.sandboxes,
      logger: platform.logger,
      maxOutputBytes: platform.config.maxOutputBytes,
      compileTypeScript: platform.compileTypeScript,
      network: platform.network,
      packages: platform.packages,
      findImports: platform.findImports,
      monotonicMs: platform.monotonicMs,
    },
    call,
    {
      onSandbox: (sandboxId) => void call.onEvent?.({ type: "sandbox", sandboxId }),
      onOutput: (stream, bytes) => call.onEvent?.({ type: "output", stream, bytes }),
      onDenied: (denial) => void call.onEvent?.({ type: "denied", denial }),
      onPackages: (message) => void call.onEvent?.({ type: "progress", message, fraction: null }),
      onPull: (image, progress) => void call.onEvent?.(pullEvent(image, progress)),
    },
  );
  return toWire(result, notes);
}

/** Everything is checked before anything is started. */
function specOf(
  platform: Platform,
  request: Request,
  call: OperationCall,
  given: { readonly contextFiles: readonly ContextFile[]; readonly secrets: readonly ProgramSecret[] },
): ExecuteSpec {
  const { config } = platform;
  const network = parseNetwork(request.network);
  assertNetworkAllowed(network, config.network);
  const mainFile = checkMainFile(request.filename, request.language);
  const image = request.image ?? config.images[request.language];
  return {
    language: request.language,
    code: checkCode(request.code),
    mainFile,
    contextFiles: checkContextFiles(given.contextFiles, { reservedPaths: [mainFile] }),
    environment: checkEnvironment(request.environment ?? {}),
    secrets: given.secrets,
    hostEnvironment: config.hostEnvironment,
    arguments: checkArguments(request.args ?? []),
    stdin: call.stdin ?? textBytes(request.stdin ?? ""),
    artifacts: parseGlobs(request.artifacts ?? []),
    packages:
      request.packages === "auto" ? "auto" : checkPackages(request.packages ?? [], ecosystemOf(request.language)),
    limits: requestedLimits("execute", request, config),
    network,
    image: checkImageReference(image),
    imageDemanded: request.image !== undefined,
    ociRuntime: request.oci_runtime,
    explicitDemands: explicitDemands("execute", request, config.explicitSettings),
    minIsolation: platform.minIsolation("other", request.min_isolation),
  };
}

function toWire(result: ExecuteResult, notes: readonly string[]): ExecuteResponse {
  return {
    ...programToWire(result, notes),
    ...(result.packages.length > 0 ? { packages_installed: [...result.packages] } : {}),
    ...(result.artifacts.length > 0 ? { artifacts: result.artifacts.map(artifactToWire) } : {}),
  };
}

function artifactToWire(
  artifact: ExecuteResult["artifacts"][number],
): NonNullable<ExecuteResponse["artifacts"]>[number] {
  const { path, sizeBytes, mediaType, type, encoding, content, omitted } = artifact;
  return {
    path,
    size_bytes: sizeBytes,
    media_type: mediaType,
    type,
    encoding,
    content,
    ...(omitted === undefined ? {} : { omitted }),
  };
}
