import { GloveboxError } from "../../errors/glovebox-error.ts";
import { nearest } from "../../base/nearest.ts";

/**
 * An `INVALID_REQUEST` for a value that cannot be quoted in the message (a secret, or megabytes of it).
 *
 * `problem` says what is wrong and what would be right; it is shown after the field's name.
 */
export function invalidValue(field: string, problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${field}: ${problem}.`, {
    suggestion: `Correct ${field} and send the request again.`,
    context: { field },
  });
}

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
