import { createId } from "../../base/id.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { checkEnvironmentId } from "../../policy/request/environment-id.ts";
import { projectFolder, type EnvironmentSpec, type Project } from "../../workloads/environment/environment-spec.ts";
import { projectTools, type ImageName } from "../../workloads/dependencies/project-tools.ts";
import { readProject } from "../../workloads/project/read-project.ts";
import { openEnvironment } from "../../workloads/environment/open-environment.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { handle } from "../handling/handler.ts";
import { limitsToWire } from "../handling/limits-to-wire.ts";
import { readSecrets } from "../handling/read-secrets.ts";
import { settle } from "../handling/settle.ts";
import { callListener } from "../handling/call-events.ts";
import { openProject } from "./open-project.ts";
import { readCommand } from "../handling/read-command.ts";
import { readVariables } from "./command-request.ts";
import { createEnvironmentContract, type CreateEnvironmentResponse } from "./create-environment-contract.ts";

type Request = RequestOf<typeof createEnvironmentContract>;

/** `create_environment`: a container that commands run in until it is destroyed. */
export const createEnvironmentHandler = handle(createEnvironmentContract, run);

async function run(platform: PlatformParts, request: Request, call: OperationCall): Promise<CreateEnvironmentResponse> {
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
function specOf(platform: PlatformParts, request: Request, id: string, principal: string): EnvironmentSpec {
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
  platform: PlatformParts,
  { image }: Request,
  needed: ImageName,
): Pick<EnvironmentSpec, "image" | "imageOrigin"> {
  if (image !== undefined) return { image: platform.checkImage(image), imageOrigin: "request" };
  const { images } = platform.config;
  return { image: images[needed === "bun" ? "session" : needed], imageOrigin: "configured" };
}

/** The image for the files of a project, where the request has none. @throws NOT_FOUND, PERMISSION_DENIED */
async function imageForProject(
  platform: PlatformParts,
  request: Request,
  { place }: Project,
): Promise<Pick<EnvironmentSpec, "image" | "imageOrigin">> {
  if (request.image !== undefined) return imageOf(platform, request, "bun");
  const { names } = await readProject(place, platform.host.platform);
  return imageOf(platform, request, projectTools("", names).image);
}

function readPreparation(
  request: Request,
  name: "setup_commands" | "install_commands",
): readonly (readonly string[])[] {
  return (request[name] ?? []).map((command, index) => readCommand(command, `${name}[${index}]`));
}
