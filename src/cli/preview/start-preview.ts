import { startPreviewContract, type StartPreviewResponse } from "../../operations/previews/start-preview-contract.ts";
import type { CommandCalls } from "../open-calls.ts";
import { withOptionWords } from "../output/option-words.ts";
import type { LiveEvents } from "../output/live-events.ts";

/** Starts the preview and reports progress and warnings until its command runs. */
export async function startPreview(
  calls: CommandCalls,
  request: Readonly<Record<string, unknown>>,
  { live: shown, signal }: { readonly live: LiveEvents; readonly signal: AbortSignal },
): Promise<StartPreviewResponse> {
  using live = shown;
  const started = await calls.send(startPreviewContract, request, { onEvent: live.onEvent, signal });
  live.warnAll({ ...started, warnings: started.warnings.map((each) => withOptionWords(each, null)) });
  return started;
}
