import { z } from "zod";
import { defineOperation } from "../contract/operation-contract.ts";
import { previewId, previewSchema, previewText } from "./preview-schema.ts";

/** How long an answer may wait for a starting preview, in seconds. */
const maxWaitSeconds = 30;

const previewStatusRequestSchema = z.strictObject({
  id: previewId,
  wait_seconds: z
    .number()
    .int()
    .min(0)
    .max(maxWaitSeconds)
    .optional()
    .describe("How long to wait while its status is starting; default 0."),
});

/** `preview_status`: whether a preview answers, its output and what is wrong with it. */
export const previewStatusContract = defineOperation({
  name: "preview_status",
  audience: "everyone",
  description: "Shows whether a preview answers (starting, running or error), with its newest output and alerts.",
  request: previewStatusRequestSchema,
  response: previewSchema,
  routes: [{ method: "GET", path: "/api/sandbox/preview/{id}" }],
  tool: {
    title: "Look at a preview",
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
    mayTakeLong: false,
    text: previewText,
  },
});

const stopPreviewResponseSchema = z.object({
  container_id: z.string(),
  logs: z.string().describe("Its newest output."),
});

/** `stop_preview`: ends a preview gracefully and removes it. */
export const stopPreviewContract = defineOperation({
  name: "stop_preview",
  audience: "everyone",
  description: "Ends a preview: SIGTERM to its command, SIGKILL 750 ms later, then its sandbox is removed.",
  request: z.strictObject({ id: previewId }),
  response: stopPreviewResponseSchema,
  routes: [{ method: "DELETE", path: "/api/sandbox/preview/{id}" }],
  tool: {
    title: "Stop a preview",
    readOnly: false,
    destructive: true,
    idempotent: false,
    openWorld: false,
    mayTakeLong: false,
    text: ({ container_id: id }) => `Preview ${id} has ended.`,
  },
});
