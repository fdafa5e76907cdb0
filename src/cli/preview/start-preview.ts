import { startPreviewContract, type StartPreviewResponse } from "../../operations/previews/start-preview-contract.ts";
import type { CommandIo } from "../command-io.ts";
import type { CommandCalls } from "../open-calls.ts";
import { LiveEvents } from "../output/live-events.ts";

/** Starts the preview and reports progress on stderr until its command runs. */
export async function startPreview(
  calls: CommandCalls,
  request: Readonly<Record<string, unknown>>,
  { stderr, signal }: CommandIo,
): Promise<StartPreviewResponse> {
  using live = new LiveEvents(stderr);
  const started = await calls.send(startPreviewContract, request, { onEvent: live.onEvent, signal });
  for (const warning of started.warnings) live.warn(warning);
  return started;
}
