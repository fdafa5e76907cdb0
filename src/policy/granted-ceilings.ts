import { limitFieldNames, limitFields, type RequestedLimits } from "./limit-fields.ts";
import type { Ceilings } from "./resolve-limits.ts";
import type { Limits } from "./limits.ts";

/** The deployment's ceilings with those of a key that are lower. */
export function grantedCeilings(deployment: Limits, granted: RequestedLimits): Ceilings {
  const ceilings = { ...deployment };
  const ofKey = limitFieldNames.filter((field) => {
    const { limit, factor } = limitFields[field];
    const own = (granted[field] ?? Infinity) * factor;
    if (!(own < ceilings[limit])) return false;
    ceilings[limit] = own;
    return true;
  });
  return { ...ceilings, ofKey };
}
