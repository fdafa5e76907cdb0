import { invalidField } from "../../errors/glovebox-error.ts";

const form = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,63})$/;

/** The id of an environment, checked. @throws INVALID_REQUEST naming the field */
export function checkEnvironmentId(id: string, field = "env_id"): string {
  if (form.test(id) && !id.includes("..")) return id;
  throw invalidField(
    field,
    "1 to 64 letters, digits, hyphens, underscores and dots that begin with a letter or digit, without two dots in a row",
    id,
  );
}
