import type { Config } from "../../config/config.ts";
import type { LimitKind, Limits } from "../../policy/limits.ts";
import { resolveLimits } from "../../policy/resolve-limits.ts";
import type { LimitsRequest } from "../contract/run-settings-schema.ts";

/** A request's limits; a separate `timeout_seconds` is short for the one in `limits`. @throws INVALID_REQUEST */
export function requestedLimits(
  kind: LimitKind,
  request: { readonly limits?: LimitsRequest | undefined; readonly timeout_seconds?: number | undefined },
  { limits: defaults, ceilings }: Pick<Config, "limits" | "ceilings">,
): Limits {
  const { limits, timeout_seconds: seconds } = request;
  return resolveLimits({
    kind,
    defaults,
    ceilings,
    requested: { ...limits, ...(seconds === undefined ? {} : { timeout_seconds: seconds }) },
    fieldNames: seconds === undefined ? {} : { timeout_seconds: "timeout_seconds" },
  });
}
