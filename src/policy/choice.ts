import { nearest } from "../base/nearest.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

/**
 * The value, when it is one of the choices (a language, an engine, ...).
 * @throws INVALID_REQUEST listing the valid ones, with the nearest as the suggestion
 */
export function checkChoice<Choice extends string>(value: unknown, choices: readonly Choice[], field: string): Choice {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  const received = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : typeof value;
  const meant = typeof value === "string" ? nearest(value, choices) : null;
  throw new GloveboxError("INVALID_REQUEST", `${field}: expected one of ${choices.join(", ")}, got ${received}.`, {
    suggestion: meant === null ? `Set ${field} to one of ${choices.join(", ")}.` : `Did you mean "${meant}"?`,
    context: { field, valid: choices },
  });
}
