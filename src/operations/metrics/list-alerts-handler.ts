import { handle } from "../handling/handler.ts";
import { listAlertsContract } from "./list-alerts-contract.ts";

const defaultAlerts = 100;

/** `list_alerts`: the caller's own. */
export const listAlertsHandler = handle(listAlertsContract, ({ alertBook }, request, call) => {
  const { sandbox_id: sandbox, limit = defaultAlerts, ...filter } = request;
  return Promise.resolve({ alerts: alertBook.list(call.principal, { ...filter, sandbox }).slice(-limit) });
});
