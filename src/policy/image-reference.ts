import { invalidValue } from "./request/invalid-value.ts";

/** Longest name of an image (registry and path) that registries take. */
const maxImageNameLength = 255;
const maxTagLength = 128;
const maxDigestLength = 256;

const host =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*|\[[0-9a-f:]{2,39}\])(?::\d{1,5})?$/i;
const pathPart = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const digestForm = /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-f]{32,}$/i;

const example = "such as python:3.12-slim or registry.example:5000/team/tool:1.2";

/**
 * An image reference, `[host[:port]/]path[:tag][@digest]`, as given. It holds no character that a shell or an argument
 * parser could take for something else.
 * @throws INVALID_REQUEST naming the field and the part that is wrong, with an example of a right one
 */
export function checkImageReference(reference: string, field = "image"): string {
  const shown = JSON.stringify(reference.slice(0, 80));
  const refuse = (problem: string): Error => invalidValue(field, `${problem}, ${example}; got ${shown}`);
  if (reference === "") throw refuse("expected an image reference");
  if (reference.length > maxImageNameLength + maxTagLength + maxDigestLength + 2)
    throw refuse("expected a shorter reference");

  const [tagged = "", digest, ...more] = reference.split("@");
  if (more.length > 0) throw refuse('expected at most one "@"');
  if (digest !== undefined && (digest.length > maxDigestLength || !digestForm.test(digest))) {
    throw refuse('expected a digest such as sha256:<64 hexadecimal digits> after "@"');
  }
  const colon = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
  const name = colon === -1 ? tagged : tagged.slice(0, colon);
  const tag = colon === -1 ? undefined : tagged.slice(colon + 1);
  if (tag !== undefined && (tag.length > maxTagLength || !tagForm.test(tag))) {
    throw refuse(`expected a tag of at most ${maxTagLength} letters, digits and _.- after ":"`);
  }
  if (name.length > maxImageNameLength) throw refuse(`expected a name of at most ${maxImageNameLength} characters`);

  const parts = name.split("/");
  if (parts.length > 1 && isHost(parts[0] ?? "")) {
    if (!host.test(parts[0] ?? "")) throw refuse("expected a registry as host or host:port");
    parts.shift();
  }
  if (!parts.every((part) => pathPart.test(part))) {
    throw refuse("expected lower-case letters, digits and single separators (._-) in the image's name");
  }
  return reference;
}

/** Registries are told from folders of the default registry by a dot, a port, or by being this machine. */
function isHost(part: string): boolean {
  return part.includes(".") || part.includes(":") || part === "localhost";
}
