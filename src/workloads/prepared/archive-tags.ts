import { decodeTar } from "../../sandbox/files/tar/tar-decoder.ts";
import { unusable } from "./manifest.ts";

/** Of the small files that name the images of an archive. */
const maxListBytes = 1_048_576;
const lists = new Set(["manifest.json", "repositories", "index.json"]);

/**
 * Reads an archive of images to its end and refuses one that would name another image than the reference: loading it would
 * put that in place of what the engine has. @throws INVALID_REQUEST
 */
export async function assertNames(archive: AsyncIterable<Uint8Array>, reference: string): Promise<void> {
  const names: string[] = [];
  try {
    for await (const entry of decodeTar(archive)) {
      if (entry.kind !== "file" || !lists.has(entry.path)) continue;
      if (entry.sizeBytes > maxListBytes) throw unusable(`${entry.path} of an image is too large.`);
      const parts: Uint8Array[] = [];
      for await (const chunk of entry.chunks) parts.push(new Uint8Array(chunk));
      names.push(...namesOf(entry.path, Buffer.concat(parts).toString("utf8")));
    }
  } catch (error) {
    if (error instanceof RangeError) throw unusable(`what should be image ${reference} is no archive.`);
    throw error;
  }
  const others = names.filter((name) => plainName(name) !== plainName(reference));
  if (names.length > 0 && others.length === 0) return;
  throw unusable(
    names.length === 0
      ? `what should be image ${reference} names none.`
      : `what should be image ${reference} names ${JSON.stringify(others[0]?.slice(0, 80))} too.`,
  );
}

/** Names that one of the lists gives; what has none is passed over. */
function namesOf(list: string, text: string): readonly string[] {
  const value: unknown = JSON.parse(text);
  if (list === "manifest.json") return rowsOf(value).flatMap((row) => textsOf(row["RepoTags"]));
  if (list === "index.json") {
    return rowsOf(recordOf(value)["manifests"]).flatMap((row) =>
      textsOf([recordOf(row["annotations"])["io.containerd.image.name"]]),
    );
  }
  return Object.entries(recordOf(value)).flatMap(([name, tags]) =>
    Object.keys(recordOf(tags)).map((tag) => `${name}:${tag}`),
  );
}

function rowsOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** Engines write the same name with the default registry, with this machine as one, and without. */
function plainName(reference: string): string {
  const name = reference.replace(/^(?:docker\.io\/(?:library\/)?|localhost\/)/, "");
  return /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
}
