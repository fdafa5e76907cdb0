import {
  checkDockerfile,
  readSecrets,
  readShellLine,
  readShellLineOrNothing,
  settle,
  type MountNeeds,
  type StartNeeds,
} from "./settle.ts";
import type { PreviewSpec } from "../workloads/preview/preview-sandbox.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { findServer } from "../workloads/preview/find-server.ts";
import { openProject } from "./project-handler.ts";
import { handle } from "./handler.ts";
import { callListener, imageProvider, resultAlertsSince } from "./to-wire.ts";
import {
  startPreviewContract,
  startWaitSeconds,
  previewStatusContract,
  stopPreviewContract,
  type StartPreviewResponse,
  type PreviewRow,
} from "./previews-contract.ts";
import type { AlertBook } from "../telemetry/alert-book.ts";
import type { Preview } from "../workloads/preview/preview.ts";
import type { NetworkAccess } from "../egress/network-access.ts";
import type { Packages } from "../packages/packages.ts";
import type { Previews } from "../workloads/preview/previews.ts";

export interface PreviewNeeds extends StartNeeds, MountNeeds {
  readonly previews: Previews;
  readonly network: Pick<NetworkAccess, "grant">;
  readonly packages: Packages;
}

type Request = RequestOf<typeof startPreviewContract>;

const defaultPort = 3000;

/** `start_preview`: a project's page, served from a sandbox until it is stopped. */
export const startPreviewHandler = handle(startPreviewContract, run);

/** `preview_status`: the state of a preview. */
export const previewStatusHandler = handle(
  previewStatusContract,
  async ({ previews, alertBook }: PreviewNeeds, { id, wait_seconds: seconds = 0 }, { principal, signal }) => {
    const preview = previews.find(id, principal);
    if (seconds > 0) await preview.untilSettled(seconds * 1_000, signal);
    return previewRow(preview, alertBook);
  },
);

/** `stop_preview`: ends it. */
export const stopPreviewHandler = handle(
  stopPreviewContract,
  async ({ previews }: PreviewNeeds, { id }, { principal }) => {
    const preview = await previews.stop(id, principal);
    return { container_id: preview.id, logs: preview.logs };
  },
);

/** A preview as callers see it, with the alerts of its sandbox. */
function previewRow(preview: Preview, alertBook: Pick<AlertBook, "since">): PreviewRow {
  const { id, spec, port, status, problem, way, sandbox, startedAtMs, setupCommand, warnings, logs } = preview;
  const { limits } = spec;
  return {
    container_id: id,
    sandbox_id: id,
    name: spec.name ?? null,
    url: way?.url ?? "",
    ...(typeof way?.directUrl === "string" ? { direct_url: way.directUrl } : {}),
    port,
    status,
    logs,
    ...(sandbox === null
      ? {}
      : {
          engine: sandbox.sandbox.engineName,
          isolation: sandbox.capabilities.isolation,
          ...(sandbox.capabilities.images ? { image: sandbox.profile.image } : {}),
          ...(setupCommand === null ? {} : { setup_command: setupCommand }),
        }),
    ...(startedAtMs === null
      ? {}
      : {
          started_at: new Date(startedAtMs).toISOString(),
          ends_at: new Date(startedAtMs + limits.timeoutMs).toISOString(),
        }),
    warnings: [...warnings],
    ...resultAlertsSince(alertBook, 0, id),
    ...(problem === null ? {} : { error: problem.toWire() }),
  };
}

async function run(platform: PreviewNeeds, request: Request, call: OperationCall): Promise<StartPreviewResponse> {
  const given = request.command === undefined ? undefined : readShellLine(request.command, "command");
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
  const { place } = opened.project;
  const { command, why, port } = await findServer({ command: given }, place, platform.host.platform).catch(
    async (error: unknown) => {
      await place[Symbol.asyncDispose]();
      throw error;
    },
  );
  const chosen = why === null ? [] : [`No command was given, so this serves \`${command}\`: ${why}.`];
  const notes = [...new Set([...opened.notices, ...engineNotes, ...chosen])];
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const preview = await platform.previews.start(
    { ...spec, project: place, command, port: request.port ?? port ?? defaultPort },
    {
      engine,
      network: platform.network,
      packages: platform.packages,
      provideImage: imageProvider(platform, engine, call),
      ...callListener(call, request.name),
    },
    call,
    startWaitSeconds(request.wait_seconds) * 1_000,
  );
  const row = previewRow(preview, platform.alertBook);
  return { ...row, warnings: [...notes, ...row.warnings] };
}

/** Everything except the project is checked before anything is started. */
function specOf(
  platform: PreviewNeeds,
  request: Request,
): Omit<PreviewSpec, "project" | "secrets" | "command" | "port"> {
  const { config } = platform;
  const settings = settle("preview", request, platform, {});
  const { python, javascript, session } = config.images;
  const { setup_command: setup } = request;
  return {
    ...settings,
    isPortNamed: request.port !== undefined,
    setupCommand: setup === undefined ? undefined : readShellLineOrNothing(setup, "setup_command"),
    includeIgnored: request.include_ignored ?? false,
    // As long as for a test run: the page's own time begins after it.
    setupTimeoutMs: Math.min(settings.limits.timeoutMs, config.limits.test.timeoutMs),
    image: request.image === undefined ? undefined : platform.checkImage(request.image),
    dockerfile: checkDockerfile(request, config),
    defaultImages: { python, javascript, bun: session },
  };
}
