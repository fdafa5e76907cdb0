import { GloveboxError } from "../errors/glovebox-error.ts";
import { invalidValue } from "./request/invalid-value.ts";

/** An image by the digest of its whole content. */
export interface ImageId {
  readonly kind: "id";
  /** `sha256:` and 64 hexadecimal digits. */
  readonly id: string;
}

/** An image by its name, written out: equal names have equal fields, however they were written. */
export interface ImageName {
  readonly kind: "name";
  /** `host[:port]` in lower case; `docker.io` where none is written. */
  readonly registry: string;
  /** Within the registry, such as `library/python`. */
  readonly path: string;
  /** `latest` where neither a tag nor a digest is written; null beside a digest, which decides alone. */
  readonly tag: string | null;
  /** `sha256:` and 64 digits, or `sha512:` and 128. */
  readonly digest: string | null;
  /** The path as written, if no registry is: such names may stand for the engine's own builds. Else null. */
  readonly shortPath: string | null;
}

export type ImageReference = ImageId | ImageName;

/**
 * Who named an image: the request, a file of its project, or the operator. A project's files are its author's words:
 * what only they name gets none of this machine's registry credentials.
 */
export type ImageOrigin = "request" | "project" | "configured";

/** The registry of names without one. */
export const defaultRegistry = "docker.io";
/** The same registry by its older name. */
const formerRegistry = "index.docker.io";

/** Longest name of an image (registry and path) that registries take. */
const maxImageNameLength = 255;
const maxTagLength = 128;
const maxDigestLength = 256;
const maxPort = 65_535;

const host =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*|\[[0-9a-f:]{2,39}\])(?::(?<port>[1-9]\d{0,4}))?$/i;
const pathPart = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const digestForm = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
const idForm = /^sha256:[0-9a-f]{64}$/;
/** Engines take such names for parts of ids. */
const idLike = /^(?:sha(?:256|384|512)|[0-9a-f]{64})$/;

const example = "such as python:3.12-slim or registry.example:5000/team/tool:1.2";

/**
 * Takes an image reference apart: `[host[:port]/]path[:tag][@digest]`, or the whole id of an image. It holds no
 * character that a shell or an argument parser could take for something else. Beginnings of ids are no references:
 * engines accept them, and with them any image that they have.
 * @throws INVALID_REQUEST naming the field and the part that is wrong, with an example of a right one
 */
export function parseImageReference(reference: string, field = "image"): ImageReference {
  const shown = JSON.stringify(reference.slice(0, 80));
  const refuse = (problem: string): Error => invalidValue(field, `${problem}, ${example}; got ${shown}`);
  if (reference === "") throw refuse("expected an image reference");
  if (reference.length > maxImageNameLength + maxTagLength + maxDigestLength + 2)
    throw refuse("expected a shorter reference");
  if (idForm.test(reference)) return { kind: "id", id: reference };

  const [tagged = "", digest, ...more] = reference.split("@");
  if (more.length > 0) throw refuse('expected at most one "@"');
  if (digest !== undefined && !digestForm.test(digest)) {
    throw refuse('expected a digest such as sha256:<64 hexadecimal digits> after "@"');
  }
  const colon = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
  const name = colon === -1 ? tagged : tagged.slice(0, colon);
  const tag = colon === -1 ? undefined : tagged.slice(colon + 1);
  if (tag !== undefined && (tag.length > maxTagLength || !tagForm.test(tag))) {
    throw refuse(`expected a tag of at most ${maxTagLength} letters, digits and _.- after ":"`);
  }
  if (name.length > maxImageNameLength) throw refuse(`expected a name of at most ${maxImageNameLength} characters`);
  if (idLike.test(name)) throw refuse("expected a name, or a whole image id as sha256:<64 hexadecimal digits>");

  const parts = name.split("/");
  const registry = parts.length > 1 && isHost(parts[0] ?? "") ? (parts.shift() ?? "") : null;
  if (registry !== null && !isRegistry(registry)) throw refuse("expected a registry as host or host:port");
  if (!parts.every((part) => pathPart.test(part))) {
    throw refuse("expected lower-case letters, digits and single separators (._-) in the image's name");
  }
  return {
    kind: "name",
    ...writtenOut(registry, parts.join("/")),
    tag: digest === undefined ? (tag ?? "latest") : null,
    digest: digest ?? null,
    shortPath: registry === null ? parts.join("/") : null,
  };
}

/**
 * An image reference as given, for what comes from outside: names that Glovebox gives to images as its own handles are
 * refused.
 * @throws what `parseImageReference` throws
 */
export function checkImageReference(reference: string, field = "image"): string {
  const parsed = parseImageReference(reference, field);
  if (parsed.kind === "name" && ownHandles.test(parsed.path)) {
    throw invalidValue(field, `expected an image that Glovebox does not keep for itself, ${example}; got ${reference}`);
  }
  return reference;
}

/** Repositories of such names, in any registry. */
const ownHandles = /^(?:library\/)?glovebox-(?:content|made)$/;

/** The one spelling of a reference: `registry/path:tag`, `registry/path@digest` or an id. */
export function spellImage(reference: ImageReference): string {
  if (reference.kind === "id") return reference.id;
  const { registry, path, tag, digest } = reference;
  return `${registry}/${path}${digest === null ? `:${tag ?? "latest"}` : `@${digest}`}`;
}

/** The one spelling of a text that should be a reference; null: it is none. */
export function spellingOf(text: string): string | null {
  try {
    return spellImage(parseImageReference(text));
  } catch (error) {
    if (error instanceof GloveboxError) return null;
    throw error;
  }
}

/** Whether two references name the same image: by the same whole name and tag, or the same whole digest. */
export function isSameImage(one: string, other: string): boolean {
  const spelled = spellingOf(one);
  return spelled !== null && spelled === spellingOf(other);
}

/** Whether a text is a registry as references write it: `host` or `host:port`. */
export function isRegistry(text: string): boolean {
  const match = host.exec(text);
  return match !== null && Number(match.groups?.["port"] ?? 1) <= maxPort;
}

/** The one spelling of a registry. */
export function spellRegistry(registry: string): string {
  const lower = registry.toLowerCase();
  return lower === formerRegistry ? defaultRegistry : lower;
}

function writtenOut(registry: string | null, path: string): Pick<ImageName, "registry" | "path"> {
  const spelled = spellRegistry(registry ?? defaultRegistry);
  return { registry: spelled, path: spelled === defaultRegistry && !path.includes("/") ? `library/${path}` : path };
}

/** Registries are told from folders of the default registry by a dot, a port, or by being this machine. */
function isHost(part: string): boolean {
  return part.includes(".") || part.includes(":") || part === "localhost";
}
