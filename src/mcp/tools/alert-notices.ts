import type { ServerContext } from "@modelcontextprotocol/server";
import type { Platform } from "../../platform/platform.ts";

/** Maximum notices per call, as programs can cause alerts. */
const maxNotices = 50;

/** Notifies the client of alerts for its principal's sandboxes during a call; the returned function stops that. */
export function tellAlerts(
  alertBook: Pick<Platform["alertBook"], "listen">,
  principal: string,
  { mcpReq }: ServerContext,
): () => void {
  let told = 0;
  return alertBook.listen((alert, owner) => {
    if (owner !== principal || ++told > maxNotices) return;
    // The newest revision keeps it for a year and has no replacement.
    // oxlint-disable-next-line typescript/no-deprecated
    mcpReq.log(alert.state === "start" ? "warning" : "info", alert, "glovebox.alerts").catch(() => {
      // The client is gone; the code that serves it notices that itself.
    });
  });
}
