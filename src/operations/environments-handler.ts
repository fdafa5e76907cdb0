import { createId } from "../base/id.ts";
import { checkEnvironmentId } from "../policy/chosen-names.ts";
import { projectFolder, type EnvironmentSpec, type Project } from "../workloads/environment/environment-spec.ts";
import { projectTools, type ImageName } from "../workloads/dependencies/project-tools.ts";
import { readProject } from "../workloads/project/read-project.ts";
import { openEnvironment, type OpenEnvironment } from "../workloads/environment/open-environment.ts";
import type { RequestOf, OperationCall } from "./contract/operation-contract.ts";
import { handle } from "./handler.ts";
import { limitsToWire, callListener, errorOfRun, resultAlertsSince } from "./to-wire.ts";
import { readSecrets, readCommand, inputOf, settle, type MountNeeds, type StartNeeds } from "./settle.ts";
import { openProject, readVariables, readCommandRequest } from "./project-handler.ts";
import {
  createEnvironmentContract,
  destroyEnvironmentContract,
  listEnvironmentsContract,
  runCommandContract,
  type CreateEnvironmentResponse,
  type RunCommandResponse,
} from "./environments-contract.ts";
import { shortenTooling } from "../policy/tooling-changes.ts";
import { toolingWarnings } from "../workloads/run/explain-tooling.ts";
import { hasLabels } from "./contract/request-schemas.ts";
import { maxToolingFiles } from "./contract/program-schema.ts";
import { resolveLimits } from "../policy/limits.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import type { ImageListener } from "../workloads/program/ensure-image.ts";

export type EnvironmentNeeds = StartNeeds &
  MountNeeds &
  Omit<OpenEnvironment, "id" | "name" | "engine" | "readSpec" | "host" | "onProgress" | keyof ImageListener>;

type CreateRequest = RequestOf<typeof createEnvironmentContract>;

/** `create_environment`: a container that commands run in until it is destroyed. */
export const createEnvironmentHandler = handle(createEnvironmentContract, createEnvironment);

/** `list_environments`: the caller's own. */
export const listEnvironmentsHandler = handle(
  listEnvironmentsContract,
  async ({ environments }: EnvironmentNeeds, { label }, call) => {
    const all = await environments.list(call.principal);
    const own = all.filter(({ spec }) => hasLabels(spec.labels, label));
    return {
      environments: await Promise.all(
        own.map(async (environment) => {
          const home = await environment.currentIds().catch(() => null);
          return {
            env_id: environment.spec.id,
            name: environment.spec.name ?? null,
            container_id: home?.containerId ?? null,
            mount_path: projectFolder,
            image: environment.spec.image,
            engine: environment.engineName,
            labels: { ...environment.spec.labels },
            created_at: new Date(environment.createdAtMs).toISOString(),
            read_only: environment.spec.project?.readOnly ?? false,
            running_commands: environment.commandCount,
            running_processes: environment.processes.running.length,
          };
        }),
      ),
    };
  },
);

/** `destroy_environment`: ends what runs in it and removes its container. */
export const destroyEnvironmentHandler = handle(
  destroyEnvironmentContract,
  async ({ environments }: EnvironmentNeeds, { env_id: id }, { principal }) => {
    const report = await environments.destroy(id, principal);
    return {
      env_id: id,
      destroyed: true as const,
      tooling_files: [...shortenTooling(report.changed, maxToolingFiles)],
      warnings: [...toolingWarnings(report)],
    };
  },
);

type CommandRequest = RequestOf<typeof runCommandContract>;

/** `run_command`: one command in an environment, to its end. */
export const runCommandHandler = handle(runCommandContract, runCommand);

async function runCommand(
  platform: EnvironmentNeeds,
  request: CommandRequest,
  call: OperationCall,
): Promise<RunCommandResponse> {
  const { config, environments, alertBook } = platform;
  const plain = readCommandRequest(request);
  const secrets = await readSecrets(platform, request.secrets ?? [], {
    principal: call.principal,
    kind: "environment",
    taken: Object.keys(plain.environment),
  });
  const spec = { ...plain, secrets };
  const environment = await environments.find(request.env_id, call.principal);
  const { timeoutMs } = resolveLimits({
    kind: "environment",
    defaults: { ...config.limits, environment: environment.spec.limits },
    ceilings: config.ceilings,
    requested: request.timeout_seconds === undefined ? {} : { timeout_seconds: request.timeout_seconds },
    fieldNames: { timeout_seconds: "timeout_seconds" },
  });
  const { mark } = alertBook;
  const result = await environment.run(spec, {
    timeoutMs,
    signal: call.signal,
    runId: call.runId,
    stdin: inputOf(request, call),
    keptBytes: checkTail(request.tail_bytes, config.maxOutputBytes),
    onOutput: ({ stream, bytes }) => call.onEvent?.({ type: "output", stream, bytes }),
    onDenied: (denial) => void call.onEvent?.({ type: "denied", denial }),
    onSandbox: callListener(call).onSandbox,
  });
  return {
    outcome: result.outcome,
    exit_code: result.exitCode,
    stdout_tail: result.stdout.text(),
    stderr_tail: result.stderr.text(),
    stdout_dropped_bytes: result.stdout.droppedBytes,
    stderr_dropped_bytes: result.stderr.droppedBytes,
    duration_ms: result.durationMs,
    timed_out: result.outcome === "timed_out",
    restarted: result.restarted,
    policy_digest: result.policyDigest,
    tooling_files: [...shortenTooling(result.toolingFiles, maxToolingFiles)],
    warnings: [...result.warnings],
    ...resultAlertsSince(alertBook, mark, result.sandboxId),
    ...errorOfRun(result.error, { kind: "environment", ceilings: config.ceilings }),
  };
}

/** @throws INVALID_REQUEST naming the maximum */
function checkTail(bytes: number | undefined, max: number): number | undefined {
  if (bytes === undefined || bytes <= max) return bytes;
  throw invalidField("tail_bytes", `at most ${max}, max_output_bytes of this deployment`, bytes);
}

async function createEnvironment(
  platform: EnvironmentNeeds,
  request: CreateRequest,
  call: OperationCall,
): Promise<CreateEnvironmentResponse> {
  const id = request.env_id === undefined ? createId("env") : checkEnvironmentId(request.env_id);
  const spec = specOf(platform, request, id, call.principal);
  // A secret that is not available is refused now; the values are read at each use.
  await spec.readSecrets();
  const { engine, notes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    containers: true,
    signal: call.signal,
  });
  const notices = [...notes];
  const environment = await openEnvironment(
    {
      ...platform,
      id,
      name: request.name,
      engine,
      readSpec: async () => {
        if (request.project_root === undefined) return spec;
        const readOnly = request.read_only ?? false;
        const opened = await openProject(platform, request.project_root, { readOnly, field: "project_root" });
        notices.push(...opened.notices);
        return { ...spec, project: opened.project, ...(await imageForProject(platform, request, opened.project)) };
      },
      ...callListener(call, request.name),
    },
    call,
  );
  const { containerId, sandboxId } = await environment.currentIds();
  const { isolation } = await engine.capabilities({ signal: call.signal, ociRuntime: spec.ociRuntime });
  return {
    env_id: id,
    container_id: containerId,
    sandbox_id: sandboxId,
    mount_path: projectFolder,
    image: environment.spec.image,
    engine: engine.name,
    isolation,
    ...(spec.ociRuntime === undefined ? {} : { oci_runtime: spec.ociRuntime }),
    limits: limitsToWire(spec.limits),
    network: request.network ?? "none",
    read_only: environment.spec.project?.readOnly ?? false,
    tooling_files: environment.spec.toolingFiles,
    warnings: [...notices, ...environment.warnings],
  };
}

/** Everything except the project is checked before anything is started. */
function specOf(platform: EnvironmentNeeds, request: CreateRequest, id: string, principal: string): EnvironmentSpec {
  const { config } = platform;
  const environment = readVariables(request);
  const asker = { principal, kind: "environment", taken: Object.keys(environment) } as const;
  return {
    ...settle("environment", { ...request, environment }, platform, {}),
    id,
    ...imageOf(platform, request, "bun"),
    setupCommands: readPreparation(request, "setup_commands"),
    installCommands: readPreparation(request, "install_commands"),
    project: null,
    // The stricter of the two.
    toolingFiles: config.toolingFiles === "locked" ? "locked" : (request.tooling_files ?? config.toolingFiles),
    toolingPaths: config.toolingPaths,
    readOnlyRoot: request.read_only_root ?? false,
    readSecrets: () => readSecrets(platform, request.secrets ?? [], asker),
  };
}

/** The request's image, or the deployment's for what the commands need. @throws INVALID_REQUEST */
function imageOf(
  platform: EnvironmentNeeds,
  { image }: CreateRequest,
  needed: ImageName,
): Pick<EnvironmentSpec, "image" | "imageOrigin"> {
  if (image !== undefined) return { image: platform.checkImage(image), imageOrigin: "request" };
  const { images } = platform.config;
  return { image: images[needed === "bun" ? "session" : needed], imageOrigin: "configured" };
}

/** The image for the files of a project, where the request has none. @throws NOT_FOUND, PERMISSION_DENIED */
async function imageForProject(
  platform: EnvironmentNeeds,
  request: CreateRequest,
  { place }: Project,
): Promise<Pick<EnvironmentSpec, "image" | "imageOrigin">> {
  if (request.image !== undefined) return imageOf(platform, request, "bun");
  const { names } = await readProject(place, platform.host.platform);
  return imageOf(platform, request, projectTools("", names).image);
}

function readPreparation(
  request: CreateRequest,
  name: "setup_commands" | "install_commands",
): readonly (readonly string[])[] {
  return (request[name] ?? []).map((command, index) => readCommand(command, `${name}[${index}]`));
}
