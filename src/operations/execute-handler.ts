import { codeNotices, imageKeyOf } from "../languages/language-table.ts";
import { textBytes } from "../base/streams/chunks.ts";
import { checkArguments, checkCode, checkRuntime } from "../policy/request/requested-program.ts";
import { parseGlobs } from "../policy/glob.ts";
import { checkContextFiles, type ContextFile } from "../policy/request/context-files.ts";
import { checkMainFile } from "../languages/main-file.ts";
import { checkPackages, ecosystemOf } from "../policy/install-policy.ts";
import { execute } from "../workloads/execute/execute.ts";
import type { HostMount } from "../workloads/run/host-mount.ts";
import type { ExecuteResult, ExecuteSpec, ExecuteDependencies } from "../workloads/execute/execution.ts";
import type { ProgramSecret } from "../sandbox/program-secret.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { handle } from "./handler.ts";
import {
  readSecrets,
  isDiskNamed,
  settle,
  type RunLimits,
  type MountNeeds,
  type RunNeeds,
  type StartNeeds,
} from "./settle.ts";
import { programToWire, callListener, imageProvider, resultAlertsSince } from "./to-wire.ts";
import { openContextFiles } from "./mounts-handler.ts";
import { executeCodeContract, type ExecuteResponse } from "./execute-contract.ts";

export type ExecuteNeeds = StartNeeds & MountNeeds & RunNeeds<ExecuteDependencies>;

type Request = RequestOf<typeof executeCodeContract>;

/** `execute_code`: a program in a fresh sandbox that is removed right after. */
export const executeCodeHandler = handle(executeCodeContract, (platform: ExecuteNeeds, request, call) =>
  executeRequest(platform, request, { call }),
);

/** An execution: the request, its caller, and what no request can name. */
export interface ExecuteCircumstances {
  readonly call: OperationCall;
  /** Folders of this machine, through the mount gate; default: none. */
  readonly mounts?: readonly HostMount[];
  /** Its time limit if the request sets none; default: the deployment's. */
  readonly timeoutMs?: number;
  /** What a list says of it; default: its language and first words. */
  readonly work?: string;
  /** What the result must report in addition to its own warnings. */
  readonly notices?: readonly string[];
}

/** Runs a program in a fresh sandbox. @throws INVALID_REQUEST, POLICY_DENIED, and what `execute` throws */
export async function executeRequest(
  platform: ExecuteNeeds,
  request: Request,
  circumstances: ExecuteCircumstances,
): Promise<ExecuteResponse> {
  const { call } = circumstances;
  await using opened = await openContextFiles(platform, request.context_files ?? []);
  const { contextFiles, notices } = opened;
  const secrets = await readSecrets(platform, request.secrets ?? [], {
    principal: call.principal,
    kind: "execute",
    taken: Object.keys(request.environment ?? {}),
  });
  const spec = specOf(platform, request, circumstances, { contextFiles, secrets });
  const { engine, notes: engineNotes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    signal: call.signal,
  });
  const coding = codeNotices(request.code, request.language);
  const notes = [...(circumstances.notices ?? []), ...notices, ...coding, ...engineNotes];
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const { mark } = platform.alertBook;
  const result = await execute(
    spec,
    {
      ...platform,
      engine,
      provideImage: imageProvider(platform, engine, call),
      maxOutputBytes: platform.config.maxOutputBytes,
    },
    call,
    callListener(call, request.name),
  );
  return {
    ...toWire(result, notes, { kind: "execute", ceilings: platform.config.ceilings }),
    ...resultAlertsSince(platform.alertBook, mark, result.sandboxId),
  };
}

/** Everything is checked before anything is started. */
function specOf(
  platform: ExecuteNeeds,
  request: Request,
  { call, mounts = [], timeoutMs, work }: ExecuteCircumstances,
  given: { readonly contextFiles: readonly ContextFile[]; readonly secrets: readonly ProgramSecret[] },
): ExecuteSpec {
  const { config } = platform;
  const settings = settle("execute", request, platform, call);
  const mainFile = checkMainFile(request.filename, request.language);
  const runtime = checkRuntime(request.runtime, request.language);
  const image =
    request.image === undefined
      ? config.images[imageKeyOf(request.language, runtime)]
      : platform.checkImage(request.image);
  const { limits } = settings;
  const files = checkContextFiles(given.contextFiles, { reservedPaths: [mainFile], diskBytes: limits.diskBytes });
  const isTimed = request.timeout_seconds !== undefined || request.limits?.timeout_seconds !== undefined;
  return {
    ...settings,
    work,
    language: request.language,
    runtime,
    code: checkCode(request.code, request.language),
    mainFile,
    contextFiles: files.files,
    dataFiles: files.data,
    secrets: given.secrets,
    arguments: checkArguments(request.args ?? []),
    stdin: call.stdin ?? textBytes(request.stdin ?? ""),
    artifacts: parseGlobs(request.artifacts ?? []),
    packages:
      request.packages === "auto" ? "auto" : checkPackages(request.packages ?? [], ecosystemOf(request.language)),
    mounts,
    limits: isTimed || timeoutMs === undefined ? limits : { ...limits, timeoutMs },
    isDiskNamed: isDiskNamed("execute", request, config.explicitSettings),
    image,
    imageOrigin: request.image === undefined ? "configured" : "request",
  };
}

function toWire(result: ExecuteResult, notes: readonly string[], limits: RunLimits): ExecuteResponse {
  return {
    ...programToWire(result, notes, limits),
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
