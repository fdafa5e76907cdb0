import { checkDockerfile } from "../handling/check-dockerfile.ts";
import { checkEnvironment } from "../../policy/request/environment.ts";
import { checkImageReference } from "../../policy/image-reference.ts";
import { parseNetwork } from "../../policy/network/network.ts";
import type { PreviewSpec } from "../../workloads/preview/preview-spec.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import { openProject } from "../environments/open-project.ts";
import { explicitDemands } from "../handling/explicit-demands.ts";
import { handle } from "../handling/handler.ts";
import { callListener, imageProvider } from "../handling/call-events.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { readSecrets } from "../handling/read-secrets.ts";
import { requestedLimits } from "../handling/requested-limits.ts";
import { checkShellLine } from "../handling/shell-line.ts";
import { previewRow } from "./preview-row.ts";
import { startPreviewContract, startWaitSeconds, type StartPreviewResponse } from "./start-preview-contract.ts";

type Request = RequestOf<typeof startPreviewContract>;

const defaultPort = 3000;

/** `start_preview`: a project's page, served from a sandbox until it is stopped. */
export const startPreviewHandler = handle(startPreviewContract, run);

async function run(platform: PlatformParts, request: Request, call: OperationCall): Promise<StartPreviewResponse> {
  const plain = specOf(platform, request);
  const secrets = await readSecrets(platform, request.secrets ?? [], {
    principal: call.principal,
    kind: "preview",
    taken: Object.keys(plain.environment),
  });
  const spec = { ...plain, secrets };
  const { engine, notes: engineNotes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    signal: call.signal,
  });
  const opened = await openProject(platform, request.project_path, { readOnly: true, field: "project_path" });
  const notes = [...new Set([...opened.notices, ...engineNotes])];
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const preview = await platform.previews.start(
    { ...spec, project: opened.project.place },
    {
      engine,
      network: platform.network,
      packages: platform.packages,
      provideImage: imageProvider(platform, engine, call),
      ...callListener(call),
    },
    call,
    startWaitSeconds(request.wait_seconds) * 1_000,
  );
  const row = previewRow(preview, platform.alertBook);
  return { ...row, warnings: [...notes, ...row.warnings] };
}

/** Everything except the project is checked before anything is started. */
function specOf(platform: PlatformParts, request: Request): Omit<PreviewSpec, "project" | "secrets"> {
  const { config } = platform;
  const network = parseNetwork(request.network);
  platform.assertNetworkAllowed(network);
  const limits = requestedLimits("preview", request, config);
  const { python, javascript, session } = config.images;
  const { setup_command: setup } = request;
  return {
    command: checkShellLine(request.command, "command", 1),
    port: request.port ?? defaultPort,
    setupCommand: setup === undefined ? undefined : checkShellLine(setup, "setup_command", 0),
    includeIgnored: request.include_ignored ?? false,
    environment: checkEnvironment(request.environment ?? {}),
    hostEnvironment: config.hostEnvironment,
    limits,
    // As long as for a test run: the page's own time begins after it.
    setupTimeoutMs: Math.min(limits.timeoutMs, config.limits.test.timeoutMs),
    network,
    image: request.image === undefined ? undefined : checkImageReference(request.image),
    dockerfile: checkDockerfile(request, config),
    defaultImages: { python, javascript, bun: session },
    ociRuntime: request.oci_runtime,
    explicitDemands: explicitDemands("preview", request, config.explicitSettings),
    minIsolation: platform.minIsolation("other", request.min_isolation),
    labels: request.labels ?? {},
  };
}
