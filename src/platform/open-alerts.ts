import type { Logger } from "../base/logger.ts";
import type { Alert, AlertListener } from "../telemetry/alert.ts";
import { NetworkAlerts } from "../telemetry/network-alerts.ts";
import { SetuidAlerts } from "../telemetry/setuid-alerts.ts";
import { ToolingAlerts } from "../telemetry/tooling-alerts.ts";

export interface Alerts {
  readonly network: NetworkAlerts;
  readonly setuid: SetuidAlerts;
  readonly tooling: ToolingAlerts;
}

export interface AlertsOptions {
  readonly logger: Logger;
  readonly now: () => number;
  /** Receives every alert of every sandbox; one that throws is logged, and holds nothing up. */
  readonly onAlert: AlertListener | undefined;
}

/** Every alert is logged and handed to the listener. */
export function openAlerts({ logger, now, onAlert }: AlertsOptions): Alerts {
  const tellAlert = (alert: Alert): void => {
    logger.info({ alert }, "alert");
    try {
      onAlert?.(alert);
    } catch (error) {
      logger.warn({ err: error }, "the listener of alerts failed");
    }
  };
  return {
    network: new NetworkAlerts(tellAlert, now),
    setuid: new SetuidAlerts(tellAlert, now),
    tooling: new ToolingAlerts(tellAlert, now),
  };
}
