import { GloveboxError } from "../../errors/glovebox-error.ts";

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
