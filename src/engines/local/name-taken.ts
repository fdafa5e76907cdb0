import { GloveboxError } from "../../errors/glovebox-error.ts";

/** The error of a second container of one name. */
export function nameTaken(name: string): GloveboxError {
  return new GloveboxError("ALREADY_EXISTS", `A container named ${name} exists on engine local.`, {
    context: { name },
  });
}
