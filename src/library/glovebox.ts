import { loadHostConfig, type ConfigOverrides } from "../config/host-config.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { OperationCall } from "../operations/contract/operation-call.ts";
import type { OperationContract, ResponseOf } from "../operations/contract/operation-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { doctorContract, type DoctorResponse } from "../operations/doctor/doctor-contract.ts";
import {
  executeCodeContract,
  type ExecuteRequest,
  type ExecuteResponse,
} from "../operations/execute/execute-contract.ts";
import {
  buildImagesContract,
  listImagesContract,
  pullImagesContract,
  type ImageRow,
  type ImagesRequest,
  type PullImagesRequest,
} from "../operations/images/images-contract.ts";
import {
  checkMountContract,
  listMountsContract,
  type CheckMountRequest,
  type CheckMountResponse,
  type ListMountsResponse,
} from "../operations/mounts/mounts-contract.ts";
import {
  listPackagesContract,
  prunePackagesContract,
  type ListPackagesResponse,
  type PrunePackagesRequest,
  type PrunePackagesResponse,
} from "../operations/packages/packages-contract.ts";
import {
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
  type ListSandboxesRequest,
  type PruneSandboxesRequest,
  type RemoveSandboxesRequest,
  type SandboxRow,
} from "../operations/sandboxes/sandboxes-contract.ts";
import {
  endSessionContract,
  type EndSessionRequest,
  type EndSessionResponse,
} from "../operations/session/end-session-contract.ts";
import { runCodeContract, type RunCodeRequest, type RunCodeResponse } from "../operations/session/run-code-contract.ts";
import {
  listFilesContract,
  readFileContract,
  writeFileContract,
  type ListFilesRequest,
  type ListFilesResponse,
  type ReadFileRequest,
  type ReadFileResponse,
  type WriteFileRequest,
  type WriteFileResponse,
} from "../operations/session/session-files-contract.ts";
import { createPlatform, type Alert, type Platform } from "../platform/platform.ts";
import { EnvironmentCalls, type RunOperation } from "./environment-calls.ts";
import { ProcessCalls } from "./process-calls.ts";
import { SandboxCalls } from "./sandbox-calls.ts";

/** Options of the embedded Glovebox; everything else comes from the environment and the configuration file. */
export interface GloveboxOptions extends ConfigOverrides {
  /** Engine of requests that name none: auto, docker, podman or local; default: CONTAINER_RUNTIME, else auto. */
  readonly engine?: string | undefined;
  /** Folder that context files are read below and that their names are relative to; default: the process's own. */
  readonly workingDirectory?: string | undefined;
  /** Receives the alerts of every sandbox. Not waited for. */
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
  readonly visits: SandboxCalls;
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
    loaded,
    host: { ...host, workingDirectory: workingDirectory ?? host.workingDirectory },
    door: "person",
    defaultEngine: engine,
    onAlert,
  });
  return new EmbeddedGlovebox(platform);
}

class EmbeddedGlovebox implements Glovebox {
  readonly environments: EnvironmentCalls;
  readonly processes: ProcessCalls;
  readonly visits: SandboxCalls;
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
    const run: RunOperation = (contract, request, call) => this.#run(contract, request, call);
    this.environments = new EnvironmentCalls(run);
    this.processes = new ProcessCalls(run);
    this.visits = new SandboxCalls(run);
  }

  execute(request: ExecuteRequest, call?: CallOptions): Promise<ExecuteResponse> {
    return this.#run(executeCodeContract, request, call);
  }

  runCode(request: RunCodeRequest, call?: CallOptions): Promise<RunCodeResponse> {
    return this.#run(runCodeContract, request, call);
  }

  listFiles(request: ListFilesRequest = {}, call?: CallOptions): Promise<ListFilesResponse> {
    return this.#run(listFilesContract, request, call);
  }

  readFile(request: ReadFileRequest, call?: CallOptions): Promise<ReadFileResponse> {
    return this.#run(readFileContract, request, call);
  }

  writeFile(request: WriteFileRequest, call?: CallOptions): Promise<WriteFileResponse> {
    return this.#run(writeFileContract, request, call);
  }

  endSession(request: EndSessionRequest = {}, call?: CallOptions): Promise<EndSessionResponse> {
    return this.#run(endSessionContract, request, call);
  }

  async images(request: ImagesRequest = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#run(listImagesContract, request, call)).images;
  }

  async pullImages(request: PullImagesRequest = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#run(pullImagesContract, request, call)).images;
  }

  async buildImages(request: ImagesRequest = {}, call?: CallOptions): Promise<readonly ImageRow[]> {
    return (await this.#run(buildImagesContract, request, call)).images;
  }

  async sandboxes(request: ListSandboxesRequest = {}, call?: CallOptions): Promise<readonly SandboxRow[]> {
    return (await this.#run(listSandboxesContract, request, call)).sandboxes;
  }

  async removeSandboxes(request: RemoveSandboxesRequest, call?: CallOptions): Promise<readonly string[]> {
    return (await this.#run(removeSandboxesContract, request, call)).removed;
  }

  async pruneSandboxes(request: PruneSandboxesRequest = {}, call?: CallOptions): Promise<readonly string[]> {
    return (await this.#run(pruneSandboxesContract, request, call)).removed;
  }

  doctor(call?: CallOptions): Promise<DoctorResponse> {
    return this.#run(doctorContract, {}, call);
  }

  checkMount(request: CheckMountRequest, call?: CallOptions): Promise<CheckMountResponse> {
    return this.#run(checkMountContract, request, call);
  }

  mounts(call?: CallOptions): Promise<ListMountsResponse> {
    return this.#run(listMountsContract, {}, call);
  }

  packages(call?: CallOptions): Promise<ListPackagesResponse> {
    return this.#run(listPackagesContract, {}, call);
  }

  prunePackages(request: PrunePackagesRequest = {}, call?: CallOptions): Promise<PrunePackagesResponse> {
    return this.#run(prunePackagesContract, request, call);
  }

  async close(): Promise<void> {
    const left = await this.#platform.close();
    if (left.length > 0) throw leftBehind(left);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run<Contract extends OperationContract>(
    contract: Contract,
    body: unknown,
    call: CallOptions = {},
  ): Promise<ResponseOf<Contract>> {
    return this.#platform.call(contract, parseRequest(contract, body), { ...call, principal, connection });
  }
}

function leftBehind(left: readonly string[]): GloveboxError {
  return new GloveboxError("ENGINE_UNAVAILABLE", `The engine did not remove everything in time: ${left.join(", ")}.`, {
    suggestion: "Check the engine; `glovebox prune` and the next start of Glovebox remove what is left.",
    context: { left },
  });
}
