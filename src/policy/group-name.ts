import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";

const form = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

/** Folders beside those of groups, and names that Windows gives to devices. */
const reserved = /^(?:global|con|prn|aux|nul|com\d|lpt\d)$/;

const expected =
  "the name of a group: 1 to 64 lower-case letters, digits, - and _, which begins and ends with a letter or digit, such as family-chat";

/**
 * The name of a group of agents, which is the name of its folders too (SPEC MO4). Lower case only: where a file system
 * does not tell case apart, two names would be one folder.
 * @throws INVALID_REQUEST naming the field
 */
export function checkGroupName(name: string, field = "group"): string {
  if (!form.test(name)) throw invalidField(field, expected, name.slice(0, 80));
  if (!reserved.test(name)) return name;
  throw new GloveboxError("INVALID_REQUEST", `${field}: "${name}" is no group: the name is taken.`, {
    suggestion: "Choose another name for the group.",
    context: { field },
  });
}
