import type { AlertBook } from "../../telemetry/alert-book.ts";
import type { Preview } from "../../workloads/preview/preview.ts";
import { resultAlertsSince } from "../handling/result-alerts.ts";
import type { PreviewRow } from "./preview-schema.ts";

/** A preview as callers see it, with the alerts of its sandbox. */
export function previewRow(preview: Preview, alertBook: Pick<AlertBook, "since">): PreviewRow {
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
