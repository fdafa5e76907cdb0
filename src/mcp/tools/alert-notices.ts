import type { ServerContext } from "@modelcontextprotocol/server";
import type { Platform } from "../../platform/platform.ts";

/** Notices in one call: programs bring alerts about. */
const maxNotices = 50;

/** Tells the client of alerts of its principal's sandboxes while a call is at work; the function that it returns ends that. */
export function tellAlerts(
  alertBook: Pick<Platform["alertBook"], "listen">,
  principal: string,
  { mcpReq }: ServerContext,
): () => void {
  let told = 0;
  return alertBook.listen((alert, owner) => {
    if (owner !== principal || ++told > maxNotices) return;
    // The newest revision keeps it for a year and has nothing in its place.
    // oxlint-disable-next-line typescript/no-deprecated
    mcpReq.log(alert.state === "start" ? "warning" : "info", alert, "glovebox.alerts").catch(() => {
      // The client is gone; what serves it learns of that by itself.
    });
  });
}
