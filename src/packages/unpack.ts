import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { checkRelativePath } from "../policy/relative-path.ts";
import { ByteReader } from "./byte-reader.ts";

/** A package as it was installed, in its version. */
export interface ResolvedPackage {
  readonly name: string;
  readonly version: string;
}

/** What was unpacked. */
export interface Unpacked {
  readonly packages: readonly ResolvedPackage[];
  readonly files: number;
  readonly bytes: number;
}

export interface UnpackLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
}

const mostLineBytes = 1024 * 1024;
const mostFileLineBytes = 8 * 1024;

/**
 * Writes what a packer of `images/packers` sends into an empty folder: read-only files, and no link of any kind, so that
 * no path can lead out of it. The sender ran what strangers wrote and is believed nothing.
 * @throws RangeError for what no packer of ours sends or what is beyond the limits, GloveboxError for a bad path
 */
export async function unpack(
  stream: AsyncIterable<Uint8Array>,
  folder: string,
  { maxFiles, maxBytes }: UnpackLimits,
): Promise<Unpacked> {
  const reader = new ByteReader(stream);
  const packages = parsePackages(JSON.parse(await reader.line(mostLineBytes)));
  let files = 0;
  let bytes = 0;
  const made = new Set<string>();
  for (;;) {
    const entry = parseEntry(JSON.parse(await reader.line(mostFileLineBytes)));
    if ("files" in entry) {
      if (entry.files !== files) throw new RangeError("files are missing");
      return { packages, files, bytes };
    }
    files += 1;
    bytes += entry.size;
    if (files > maxFiles) throw new RangeError(`more than ${maxFiles} files`);
    if (bytes > maxBytes) throw new RangeError(`more than ${maxBytes} bytes`);
    const target = path.join(folder, ...checkRelativePath(entry.path, "path").split("/"));
    const parent = path.dirname(target);
    if (!made.has(parent)) await mkdir(parent, { recursive: true });
    made.add(parent);
    // Exclusive: a name that is there already, also one that differs in case only, is not written through.
    await using file = await open(target, "wx", 0o600);
    for await (const piece of reader.bytes(entry.size)) await file.writeFile(piece);
    // Whatever our own umask is: sandboxes read them as another user.
    await file.chmod(entry.executable ? 0o555 : 0o444);
  }
}

type Entry =
  | { readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly files: number };

function parseEntry(value: unknown): Entry {
  const { path: name, size, executable, files } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof files === "number") return { files };
  if (typeof name === "string" && typeof size === "number" && Number.isSafeInteger(size) && size >= 0) {
    return { path: name, size, executable: executable === true };
  }
  throw new RangeError("no entry");
}

function parsePackages(value: unknown): readonly ResolvedPackage[] {
  const { packages } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(packages)) throw new RangeError("no packages");
  return packages.map((entry: unknown) => {
    const [name, version] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof name !== "string" || typeof version !== "string") throw new RangeError("no package");
    return { name: name.slice(0, 214), version: version.slice(0, 256) };
  });
}
