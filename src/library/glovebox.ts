import { doctorOperation, type DoctorContext } from "../operations/doctor/run.ts";
import type { DoctorResponse } from "../operations/doctor/schema.ts";
import { executeOperation } from "../operations/execute/run.ts";
import type { ExecuteRequest, ExecuteResponse } from "../operations/execute/schema.ts";
import { checkMountOperation, listMountsOperation } from "../operations/mounts/run.ts";
import type { CheckMountRequest, CheckMountResponse, ListMountsResponse } from "../operations/mounts/schema.ts";
import { buildImagesOperation, listImagesOperation, pullImagesOperation } from "../operations/images/run.ts";
import type { ImageRow, ImagesRequest, PullImagesRequest } from "../operations/images/schema.ts";
import { listPackagesOperation, prunePackagesOperation } from "../operations/packages/run.ts";
import type {
  ListPackagesResponse,
  PrunePackagesRequest,
  PrunePackagesResponse,
} from "../operations/packages/schema.ts";
import {
  listSandboxesOperation,
  pruneSandboxesOperation,
  removeSandboxesOperation,
} from "../operations/sandboxes/run.ts";
import type {
  ListSandboxesRequest,
  PruneSandboxesRequest,
  RemoveSandboxesRequest,
  SandboxRow,
} from "../operations/sandboxes/schema.ts";
import { endSessionOperation } from "../operations/session/end-session.ts";
import { listFilesOperation, readFileOperation, writeFileOperation } from "../operations/session/files.ts";
import type {
  ListFilesRequest,
  ListFilesResponse,
  ReadFileRequest,
  ReadFileResponse,
  WriteFileRequest,
  WriteFileResponse,
} from "../operations/session/files-schema.ts";
import { runCodeOperation } from "../operations/session/run-code.ts";
import type {
  EndSessionRequest,
  EndSessionResponse,
  RunCodeRequest,
  RunCodeResponse,
} from "../operations/session/schema.ts";
import { parseRequest } from "../operations/parse-request.ts";
import type { Operation, OperationCall } from "../operations/operation.ts";
import { createPlatform } from "../platform/platform.ts";
import type { Alert, Platform } from "../platform/platform.ts";
import { loadHostConfig, type ConfigOverrides } from "../config/host-config.ts";
import { readNodeVersion } from "../config/host/node-version.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { readPackageVersion } from "../config/host/package-version.ts";
import type { z } from "zod";

import { EnvironmentCalls, type RunOperation } from "./environment-calls.ts";
import { ProcessCalls } from "./process-calls.ts";
import { VisitCalls } from "./visit-calls.ts";

/** Options of the embedded Glovebox; everything else comes from the environment and the configuration file. */
export interface GloveboxOptions extends ConfigOverrides {
  /** Engine of requests that name none: auto, docker, podman or local; default: CONTAINER_RUNTIME, else auto. */
  readonly engine?: string | undefined;
  /** Folder that context files are read below and that their names are relative to; default: the process's own. */
  readonly workingDirectory?: string | undefined;
  /** Hears of alerts of every sandbox: a connection that was refused, so far. Not waited for. */
  readonly onAlert?: ((alert: Alert) => void) | undefined;
}

/** How to follow a call and give it up. */
export type CallOptions = Omit<OperationCall, "principal" | "connection">;

/** Glovebox in this process: no server, no daemon of its own. */
export interface Glovebox extends AsyncDisposable {
  /** Runs a program in a fresh sandbox. A program that fails is a result; only refusals and platform failures throw. */
  execute(request: ExecuteRequest, call?: CallOptions): Promise<ExecuteResponse>;
  /** Containers that run commands until they are destroyed. */
  readonly environments: EnvironmentCalls;
  /** Background processes of environments and sessions. */
  readonly processes: ProcessCalls;
  /** Programs, terminals and files in sandboxes that live already, also those of other processes. */
  readonly visits: VisitCalls;
  /**
   * Runs a program in a session: files last from call to call, variables do not. Without `session_id` all calls share
   * the session of this Glovebox.
   */
  runCode(request: RunCodeRequest, call?: CallOptions): Promise<RunCodeResponse>;
  /** A folder of a session. @throws NOT_FOUND */
  listFiles(request?: ListFilesRequest, call?: CallOptions): Promise<ListFilesResponse>;
  /** A file of a session. @throws NOT_FOUND */
  readFile(request: ReadFileRequest, call?: CallOptions): Promise<ReadFileResponse>;
  /** A file into a session. */
  writeFile(request: WriteFileRequest, call?: CallOptions): Promise<WriteFileResponse>;
  /** Ends a session and removes its files; default: the one of this Glovebox. @throws NOT_FOUND */
  endSession(request?: EndSessionRequest, call?: CallOptions): Promise<EndSessionResponse>;
  /** Default images and whether they are present. */
  images(request?: ImagesRequest, call?: CallOptions): Promise<readonly ImageRow[]>;
  pullImages(request?: PullImagesRequest, call?: CallOptions): Promise<readonly ImageRow[]>;
  /** Builds the image of sessions anew. */
  buildImages(request?: ImagesRequest, call?: CallOptions): Promise<readonly ImageRow[]>;
  /** Sandboxes that exist now, also those of other processes. */
  sandboxes(request?: ListSandboxesRequest, call?: CallOptions): Promise<readonly SandboxRow[]>;
  /** Ends and removes sandboxes; resolves to their ids. @throws NOT_FOUND */
  removeSandboxes(request: RemoveSandboxesRequest, call?: CallOptions): Promise<readonly string[]>;
  /** Removes what dead processes left, or everything; resolves to the ids. */
  pruneSandboxes(request?: PruneSandboxesRequest, call?: CallOptions): Promise<readonly string[]>;
  /** Which engines can be used here and why not, what each enforces, known dangers, and the configuration. */
  doctor(call?: CallOptions): Promise<DoctorResponse>;
  /** What the mount gate says about a path of this machine, by which rule, and what would allow it. */
  checkMount(request: CheckMountRequest, call?: CallOptions): Promise<CheckMountResponse>;
  /** Which folders of this machine sandboxes may get, and what they never get. */
  mounts(call?: CallOptions): Promise<ListMountsResponse>;
  /** Installed packages that are kept for later runs. */
  packages(call?: CallOptions): Promise<ListPackagesResponse>;
  /** Removes the packages not used for longest, never those that a run uses. */
  prunePackages(request?: PrunePackagesRequest, call?: CallOptions): Promise<PrunePackagesResponse>;
  /**
   * Ends and removes every sandbox of this Glovebox and lets go of the engines, within 9 s.
   * @throws ENGINE_UNAVAILABLE naming what an engine did not remove in that time; the next start removes it
   */
  close(): Promise<void>;
}

/** The principal of everything that this process asks for by itself. */
const principal = "local";
/** All its calls are one connection's. */
const connection = "library";

/**
 * Opens the embedded Glovebox.
 * @throws INVALID_REQUEST when the configuration is not valid, or there is no engine of that name
 */
export async function createGlovebox(options: GloveboxOptions = {}): Promise<Glovebox> {
  const { workingDirectory, engine, onAlert, ...overrides } = options;
  const { config, host, loaded } = await loadHostConfig(overrides);
  const platform = createPlatform({
    config,
    host: { ...host, workingDirectory: workingDirectory ?? host.workingDirectory },
    door: "own-machine",
    defaultEngine: engine,
    onAlert,
  });
  return new EmbeddedGlovebox({
    platform,
    loaded,
    defaultEngine: engine,
    version: readPackageVersion(),
    nodeVersion: readNodeVersion(),
  });
}

class EmbeddedGlovebox implements Glovebox {
  readonly environments: EnvironmentCalls;
  readonly processes: ProcessCalls;
  readonly visits: VisitCalls;
  readonly #platform: Platform;
  readonly #context: DoctorContext;

  constructor(context: DoctorContext) {
    this.#platform = context.platform;
    this.#context = context;
    const run: RunOperation = (operation, request, call) => this.#run(operation, request, call);
    this.environments = new EnvironmentCalls(run);
    this.processes = new ProcessCalls(run);
    this.visits = new VisitCalls(run);
  }

  execute(request: ExecuteRequest, call?: CallOptions): Promise<ExecuteResponse> {
    return this.#run(executeOperation, request, call);
  }

  runCode(request: RunCodeRequest, call?: CallOptions): Promise<RunCodeResponse> {
    return this.#run(runCodeOperation, request, call);
  }

  listFiles(request: ListFilesRequest = {}, call?: CallOptions): Promise<ListFilesResponse> {
    return this.#run(listFilesOperation, request, call);
  }

  readFile(request: ReadFileRequest, call?: CallOptions): Promise<ReadFileResponse> {
    return this.#run(readFileOperation, request, call);
  }

  writeFile(request: WriteFileRequest, call?: CallOptions): Promise<WriteFileResponse> {
    return this.#run(writeFileOperation, request, call);
  }

  endSession(request: EndSessionRequest = {}, call?: CallOptions): Promise<EndSessionResponse> {
    return this.#run(endSessionOperation, request, call);
  }

  async images(request: ImagesRequest = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#run(listImagesOperation, request, call)).images;
  }

  async pullImages(request: PullImagesRequest = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#run(pullImagesOperation, request, call)).images;
  }

  async buildImages(request: ImagesRequest = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#run(buildImagesOperation, request, call)).images;
  }

  async sandboxes(request: ListSandboxesRequest = {}, call?: CallOptions): Promise<readonly SandboxRow[]> {
    return (await this.#run(listSandboxesOperation, request, call)).sandboxes;
  }

  async removeSandboxes(request: RemoveSandboxesRequest, call?: CallOptions): Promise<readonly string[]> {
    return (await this.#run(removeSandboxesOperation, request, call)).removed;
  }

  async pruneSandboxes(request: PruneSandboxesRequest = {}, call?: CallOptions): Promise<readonly string[]> {
    return (await this.#run(pruneSandboxesOperation, request, call)).removed;
  }

  doctor(call: CallOptions = {}): Promise<DoctorResponse> {
    return doctorOperation.run(this.#context, {}, { ...call, principal });
  }

  checkMount(request: CheckMountRequest, call?: CallOptions): Promise<CheckMountResponse> {
    return this.#run(checkMountOperation, request, call);
  }

  mounts(call?: CallOptions): Promise<ListMountsResponse> {
    return this.#run(listMountsOperation, {}, call);
  }

  packages(call?: CallOptions): Promise<ListPackagesResponse> {
    return this.#run(listPackagesOperation, {}, call);
  }

  prunePackages(request: PrunePackagesRequest = {}, call?: CallOptions): Promise<PrunePackagesResponse> {
    return this.#run(prunePackagesOperation, request, call);
  }

  async close(): Promise<void> {
    const left = await this.#platform.close();
    if (left.length > 0) throw leftBehind(left);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run<Request extends z.ZodType, Response extends z.ZodType>(
    operation: Operation<Request, Response, Platform>,
    body: unknown,
    call: CallOptions = {},
  ): Promise<z.output<Response>> {
    return operation.run(this.#platform, parseRequest(operation.request, body), { ...call, principal, connection });
  }
}

function leftBehind(left: readonly string[]): GloveboxError {
  return new GloveboxError("ENGINE_UNAVAILABLE", `The engine did not remove everything in time: ${left.join(", ")}.`, {
    suggestion: "Check the engine; `glovebox prune` and the next start of Glovebox remove what is left.",
    context: { left },
  });
}
