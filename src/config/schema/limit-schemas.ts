import * as z from "zod";
import { limitFields, toField, type LimitField } from "../../policy/limits/limit-fields.ts";
import { defaultCeilings, defaultLimits, type LimitKind, type Limits } from "../../policy/limits/limits.ts";
import { limitNumber } from "./leaf-schemas.ts";

type LimitShape = { [Field in LimitField]: z.ZodDefault<z.ZodNumber> };
type LimitSection<Shape extends z.core.$ZodLooseShape> = z.ZodPrefault<z.ZodObject<Shape, z.core.$strict>>;

/** Limits of one kind; each description ends with what it limits. */
function limitShape(defaults: Limits, whose: string): LimitShape {
  const leaf = (field: LimitField): z.ZodDefault<z.ZodNumber> => {
    const { description } = limitFields[field];
    const words = `${description.slice(0, 1).toUpperCase()}${description.slice(1)}: ${whose}.`;
    return limitNumber(field).default(toField(field, defaults)).describe(words);
  };
  return {
    cpus: leaf("cpus"),
    memory_mb: leaf("memory_mb"),
    timeout_seconds: leaf("timeout_seconds"),
    pids: leaf("pids"),
    disk_mb: leaf("disk_mb"),
  };
}

/** The section `ceilings`. */
export function ceilingsSection(): LimitSection<LimitShape> {
  return z.strictObject(limitShape(defaultCeilings, "the most that a request may ask for"), "an object").prefault({});
}

/** The section `limits.<kind>`. */
export function kindSection(kind: LimitKind): LimitSection<LimitShape> {
  return z.strictObject(limitShape(defaultLimits[kind], `default of ${kind}`), "an object").prefault({});
}

/** The section `limits.agent`, which has no time: that is `container_timeout_ms`. */
export function agentSection(): LimitSection<Omit<LimitShape, "timeout_seconds">> {
  const { timeout_seconds: _, ...shape } = limitShape(defaultLimits.agent, "default of agent");
  return z.strictObject(shape, "an object").prefault({});
}

/** A section's values as limits in the units used inside. */
export function toLimits(section: Readonly<Record<LimitField, number>>): Limits {
  return {
    cpus: section.cpus,
    memoryBytes: section.memory_mb * limitFields.memory_mb.factor,
    timeoutMs: Math.round(section.timeout_seconds * limitFields.timeout_seconds.factor),
    pids: section.pids,
    diskBytes: section.disk_mb * limitFields.disk_mb.factor,
  };
}
