import { handle } from "../handling/handler.ts";
import { previewRow } from "./preview-row.ts";
import { previewStatusContract, stopPreviewContract } from "./previews-contract.ts";

/** `preview_status`: the state of a preview. */
export const previewStatusHandler = handle(
  previewStatusContract,
  async ({ previews, alertBook }, { id, wait_seconds: seconds = 0 }, { principal, signal }) => {
    const preview = previews.find(id, principal);
    if (seconds > 0) await preview.untilSettled(seconds * 1_000, signal);
    return previewRow(preview, alertBook);
  },
);

/** `stop_preview`: ends it. */
export const stopPreviewHandler = handle(stopPreviewContract, async ({ previews }, { id }, { principal }) => {
  const preview = await previews.stop(id, principal);
  return { container_id: preview.id, logs: preview.logs };
});
