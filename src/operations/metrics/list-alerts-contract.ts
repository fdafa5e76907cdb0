import { z } from "zod";
import { alertKinds, alertSchema, alertStates, alertLines } from "../contract/alert-schema.ts";
import { defineOperation } from "../contract/operation-contract.ts";
import { sandboxId } from "../sandboxes/sandbox-id-schema.ts";

/** Alerts in one answer. */
const maxAlerts = 500;

const listAlertsRequestSchema = z.strictObject({
  sandbox_id: sandboxId.optional().describe("Only of this sandbox."),
  kind: z.enum(alertKinds).optional().describe("Only of this kind."),
  state: z.enum(alertStates).optional().describe("Only starts, or only ends."),
  since: z.iso.datetime({ offset: true }).optional().describe("RFC 3339: only from then on."),
  limit: z.int().min(1).max(maxAlerts).optional().describe("How many, the newest; default 100, at most 500."),
});

const listAlertsResponseSchema = z.object({
  alerts: z.array(alertSchema).describe("Oldest first; 500 are kept."),
});

/** `list_alerts`: what happened to the caller's sandboxes. */
export const listAlertsContract = defineOperation({
  name: "list_alerts",
  audience: "everyone",
  description: "Lists the newest alerts of your sandboxes, including ended ones.",
  request: listAlertsRequestSchema,
  response: listAlertsResponseSchema,
  routes: [{ method: "GET", path: "/api/alerts" }],
  tool: {
    title: "Alerts",
    readOnly: true,
    destructive: false,
    idempotent: true,
    openWorld: false,
    mayTakeLong: false,
    text: ({ alerts }) =>
      alerts.length === 0
        ? "No alerts."
        : alerts.map((alert) => `${alert.timestamp} ${alert.container_id} ${alertLines([alert]).join("")}`).join("\n"),
  },
});

export type ListAlertsRequest = z.input<typeof listAlertsRequestSchema>;
