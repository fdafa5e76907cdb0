import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import {
  expectedLimit,
  limitFieldNames,
  limitFields,
  type LimitField,
  type RequestedLimits,
  toField,
} from "./limit-fields.ts";
import { withinCeilings, type LimitKind, type Limits, type NumericLimit } from "./limits.ts";

/** What no request may exceed, and which of it the caller's API key is the reason for. */
export interface Ceilings extends Limits {
  readonly ofKey?: readonly LimitField[] | undefined;
}

/** What decides the limits of one sandbox. */
export interface LimitsRequest {
  readonly kind: LimitKind;
  /** The deployment's defaults; one above its ceiling comes down to it. */
  readonly defaults: Readonly<Record<LimitKind, Limits>>;
  readonly ceilings: Ceilings;
  /** What the request asks for; a field left out takes the default. */
  readonly requested?: RequestedLimits | undefined;
  /** Names of fields that do not come from `limits`, such as `{ timeout_seconds: "timeout_seconds" }`. */
  readonly fieldNames?: Readonly<Partial<Record<LimitField, string>>> | undefined;
}

/**
 * The limits of one sandbox: what was asked where something was asked, else the kind's default (SPEC LI1, LI2).
 * @throws INVALID_REQUEST naming the field, what it may be and, above it, the deployment's ceiling
 */
export function resolveLimits(request: LimitsRequest): Limits {
  const { kind, defaults, ceilings, requested = {}, fieldNames = {} } = request;
  const limits: { -readonly [limit in NumericLimit]: number } = { ...withinCeilings(defaults[kind], ceilings) };
  for (const field of limitFieldNames) {
    const value: unknown = requested[field];
    if (value === undefined) continue;
    const name = fieldNames[field] ?? `limits.${field}`;
    limits[limitFields[field].limit] = checkLimit(field, value, { name, ceilings });
  }
  return requested.disk_mb === undefined ? limits : { ...limits, isDiskRequested: true };
}

/** One requested value in the unit of `Limits`. */
function checkLimit(
  field: LimitField,
  value: unknown,
  place: { readonly name: string; readonly ceilings: Ceilings },
): number {
  const { minimum, whole, factor } = limitFields[field];
  const ceiling = toField(field, place.ceilings);
  const expected = expectedLimit(field, ceiling);
  if (typeof value !== "number")
    throw invalidField(place.name, expected, typeof value === "string" ? value : typeof value);
  if (value > ceiling) {
    const ofKey = place.ceilings.ofKey?.includes(field) === true;
    const [whose, remedy] = ofKey
      ? ["your API key's", `give you a key with a higher ceiling for ${field}`]
      : ["this deployment's", `raise the ceiling ceilings.${field}`];
    throw new GloveboxError(
      "INVALID_REQUEST",
      `${place.name}: expected ${expected}, got ${value}, which is above ${whose} ceiling of ${ceiling}.`,
      {
        suggestion: `Ask for at most ${ceiling}, or have the operator ${remedy}.`,
        context: { field: place.name, ceiling, requested: Number.isFinite(value) ? value : String(value) },
      },
    );
  }
  if (!(value >= minimum) || (whole && !Number.isInteger(value))) throw invalidField(place.name, expected, value);
  return Math.round(value * factor * 1000) / 1000;
}
