import type { AlertBook } from "../../telemetry/alert-book.ts";
import { maxResultAlerts, type WireAlert } from "../contract/alert-schema.ts";

/** The field `alerts` of a result: what happened to its sandbox since a given time; absent if nothing did. */
export function resultAlertsSince(
  alertBook: Pick<AlertBook, "since">,
  mark: number,
  sandboxId: string,
): { alerts?: WireAlert[] } {
  const alerts = alertBook.since(mark, sandboxId).slice(-maxResultAlerts);
  return alerts.length === 0 ? {} : { alerts: [...alerts] };
}
