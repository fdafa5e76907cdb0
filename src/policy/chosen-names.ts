import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";

const groupForm = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

/** Folders beside those of groups, and names that Windows gives to devices. */
const reserved = /^(?:global|con|prn|aux|nul|com\d|lpt\d)$/;

const groupExpected =
  "the name of a group: 1 to 64 lower-case letters, digits, - and _, which begins and ends with a letter or digit, such as family-chat";

/**
 * The name of a group of agents, which is the name of its folders too (SPEC MO4). Lower case only: where a file system
 * does not tell case apart, two names would be one folder.
 * @throws INVALID_REQUEST naming the field
 */
export function checkGroupName(name: string, field = "group"): string {
  if (!groupForm.test(name)) throw invalidField(field, groupExpected, name.slice(0, 80));
  if (!reserved.test(name)) return name;
  throw new GloveboxError("INVALID_REQUEST", `${field}: "${name}" is no group: the name is taken.`, {
    suggestion: "Choose another name for the group.",
    context: { field },
  });
}

const environmentForm = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,63})$/;

/** The id of an environment, checked. @throws INVALID_REQUEST naming the field */
export function checkEnvironmentId(id: string, field = "env_id"): string {
  if (environmentForm.test(id) && !id.includes("..")) return id;
  throw invalidField(
    field,
    "1 to 64 letters, digits, hyphens, underscores and dots that begin with a letter or digit, without two dots in a row",
    id,
  );
}
