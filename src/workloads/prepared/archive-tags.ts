import { textBytes } from "../../base/streams/chunks.ts";
import { tarEnd, tarHeader, tarPadding, type TarEntry } from "../../base/tar/tar-encoder.ts";
import { decodeTar } from "../../sandbox/files/tar/tar-decoder.ts";
import { unusable } from "./manifest.ts";

/** Size of the small files that name the images of an archive. */
const maxListBytes = 1_048_576;
const lists = new Set(["manifest.json", "repositories", "index.json"]);
const id = "[0-9a-f]{64}";
/** Everything that engines write: anything else could be another name of a list, or a way around one. */
const usual = {
  file: new RegExp(
    `^(?:manifest\\.json|repositories|index\\.json|oci-layout|${id}(?:\\.json|\\.tar|/VERSION|/json|/layer\\.tar)|blobs/[a-z0-9]+/[0-9a-f]{32,128})$`,
  ),
  folder: new RegExp(`^(?:|${id}|blobs(?:/[a-z0-9]+)?)$`),
  link: new RegExp(`^${id}/(?:VERSION|json|layer\\.tar)$`),
};

/**
 * Reads an archive of images to its end and refuses one that would name another image than the reference: loading it
 * would put that in place of what the engine has.
 * @throws INVALID_REQUEST
 */
export async function assertNames(archive: AsyncIterable<Uint8Array>, reference: string): Promise<void> {
  const names: string[] = [];
  for await (const { entry, chunks } of partsOf(archive, reference)) {
    if (entry.kind !== "file" || !lists.has(entry.path)) continue;
    if (entry.sizeBytes > maxListBytes) throw unusable(`${entry.path} of an image is too large.`);
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(new Uint8Array(chunk));
    names.push(...namesOf(entry.path, parseList(entry.path, Buffer.concat(parts).toString("utf8"))));
  }
  const others = names.filter((name) => plainName(name) !== plainName(reference));
  if (names.length > 0 && others.length === 0) return;
  throw unusable(
    names.length === 0
      ? `what should be image ${reference} names none.`
      : `what should be image ${reference} names ${JSON.stringify(others[0]?.slice(0, 80))} too.`,
  );
}

/**
 * The same archive written anew, so that an engine reads what was read here, however it takes a header that can be
 * taken in two ways.
 * @throws INVALID_REQUEST
 */
export async function* plainArchive(
  archive: AsyncIterable<Uint8Array>,
  reference: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { entry, chunks } of partsOf(archive, reference)) {
    yield tarHeader(entry);
    if (entry.kind !== "file") continue;
    yield* chunks;
    yield tarPadding(entry.sizeBytes);
  }
  yield tarEnd;
}

interface ArchivePart {
  readonly entry: TarEntry;
  readonly chunks: AsyncIterable<Uint8Array>;
}

async function* partsOf(
  archive: AsyncIterable<Uint8Array>,
  reference: string,
): AsyncGenerator<ArchivePart, void, undefined> {
  try {
    for await (const entry of decodeTar(archive)) {
      const { kind, path } = entry;
      if ((kind !== "file" && kind !== "folder" && kind !== "link") || !usual[kind].test(path)) {
        const part = JSON.stringify(path.slice(0, 80));
        throw unusable(`what should be image ${reference} has a part that no engine writes (${part}).`);
      }
      yield { entry, chunks: kind === "file" ? entry.chunks : textBytes("") };
    }
  } catch (error) {
    // From the decoder: not an archive, or a path that is not text.
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    throw unusable(`what should be image ${reference} is no archive.`);
  }
}

/** Refuses what an engine could read differently: duplicate keys, also if they differ only in case. */
function parseList(list: string, text: string): unknown {
  let keys = 0;
  try {
    const value: unknown = JSON.parse(text, (_, each: unknown) => {
      if (typeof each === "object" && each !== null && !Array.isArray(each))
        keys += new Set(Object.keys(each).map(fold)).size;
      return each;
    });
    if (countKeys(text) === keys) return value;
  } catch {
    // No JSON.
  }
  throw unusable(`${list} of an image is not what an engine writes.`);
}

/** How many keys a valid JSON text has, equal ones too: only a key is followed by a colon. */
function countKeys(text: string): number {
  let keys = 0;
  for (let start = text.indexOf('"'); start !== -1;) {
    let end = start + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    let next = end + 1;
    while (/\s/.test(text.charAt(next))) next += 1;
    if (text[next] === ":") keys += 1;
    start = text.indexOf('"', end + 1);
  }
  return keys;
}

/** The same for keys that a parser may treat as equal. */
function fold(key: string): string {
  return key.toLowerCase().toUpperCase();
}

/** Names in one of the lists; entries without a name are skipped. */
function namesOf(list: string, value: unknown): readonly string[] {
  if (list === "manifest.json") return rowsOf(value).flatMap((row) => textsOf(valueOf(row, "RepoTags")));
  if (list === "index.json") {
    return rowsOf(valueOf(recordOf(value), "manifests")).flatMap((row) => {
      const annotations = recordOf(valueOf(row, "annotations"));
      return textsOf([annotations["io.containerd.image.name"] || annotations["org.opencontainers.image.ref.name"]]);
    });
  }
  return Object.entries(recordOf(value)).flatMap(([name, tags]) =>
    Object.keys(recordOf(tags)).map((tag) => `${name}:${tag}`),
  );
}

/** By its key in any case, as engines read it. */
function valueOf(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.entries(record).find(([each]) => fold(each) === fold(key))?.[1];
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

/** Engines write the same name with the default registry, with this machine as one, and without any. */
function plainName(reference: string): string {
  const name = reference.replace(/^(?:docker\.io\/(?:library\/)?|localhost\/)/, "");
  return /[:@]/.test(name.slice(name.lastIndexOf("/") + 1)) ? name : `${name}:latest`;
}
