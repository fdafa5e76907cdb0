import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

/** What an archive says of an entry. */
export type TarEntry = TarPart &
  (
    | { readonly kind: "file"; readonly sizeBytes: number }
    | { readonly kind: "folder" }
    | { readonly kind: "link" | "hard-link"; readonly target: string }
  );

interface TarPart {
  /** Relative, with forward slashes; empty for the folder itself. */
  readonly path: string;
  readonly mode: number;
  readonly modifiedAtMs: number;
}

/** Bytes of a block: headers are one, contents fill whole ones. */
export const tarBlockBytes = 512;
const nameBytes = 100;
const maxOctalSize = 0o77777777777;
const typeFlags = { file: "0", "hard-link": "1", link: "2", folder: "5" } as const;

/** End of an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * tarBlockBytes);

/**
 * The blocks that stand before an entry's content. Long names are written as GNU tar writes them, because BusyBox reads
 * no other kind.
 */
export function tarHeader(entry: TarEntry): Buffer {
  const { kind, path, mode, modifiedAtMs } = entry;
  const name = Buffer.from(kind === "folder" ? `${path || "."}/` : path);
  const target = Buffer.from(kind === "link" || kind === "hard-link" ? entry.target : "");
  return Buffer.concat([
    ...(target.length > nameBytes ? longName("K", target) : []),
    ...(name.length > nameBytes ? longName("L", name) : []),
    block({
      name,
      target,
      flag: typeFlags[kind],
      mode,
      sizeBytes: kind === "file" ? entry.sizeBytes : 0,
      seconds: Math.max(0, Math.floor(modifiedAtMs / 1000)),
    }),
  ]);
}

/** What fills the last block of a content of that size. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((tarBlockBytes - (sizeBytes % tarBlockBytes)) % tarBlockBytes);
}

/** A header as in an archive; names are bytes. */
export interface TarHeader {
  readonly name: Buffer;
  readonly target: Buffer;
  /** One character: `0` file, `1` hard link, `2` link, `5` folder, `L` `K` `x` `g` words about the next header. */
  readonly flag: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly seconds: number;
}

/** A file of an archive. */
export interface TarFile {
  /** With forward slashes. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** The files as a tar archive, readable for everyone and of no particular time or owner. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const blocks = files.flatMap(({ path, content }) => [
    tarHeader({ kind: "file", path, mode: 0o644, modifiedAtMs: 0, sizeBytes: content.length }),
    content,
    tarPadding(content.length),
  ]);
  return Buffer.concat([...blocks, tarEnd]);
}

/**
 * A folder of this machine, whose files nobody changes, as a tar archive, piece by piece; times and owners are left out,
 * and so is what is neither a file nor a folder.
 */
export async function* tarOfFolder(folder: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* entriesOf(folder, "");
  yield tarEnd;
}

async function* entriesOf(folder: string, prefix: string): AsyncGenerator<Uint8Array, void, undefined> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    const { mode, size: sizeBytes } = await stat(place);
    const facts = { path: `${prefix}${entry.name}`, mode: mode & 0o777, modifiedAtMs: 0 };
    if (entry.isDirectory()) {
      yield tarHeader({ ...facts, kind: "folder" });
      yield* entriesOf(place, `${facts.path}/`);
    } else if (entry.isFile()) {
      yield tarHeader({ ...facts, kind: "file", sizeBytes });
      yield* createReadStream(place) as AsyncIterable<Buffer>;
      yield tarPadding(sizeBytes);
    }
  }
}

function longName(flag: "K" | "L", name: Buffer): readonly Buffer[] {
  const content = Buffer.concat([name, Buffer.alloc(1)]);
  const header = { name: Buffer.from("././@LongLink"), target: Buffer.alloc(0), flag, mode: 0, seconds: 0 };
  return [block({ ...header, sizeBytes: content.length }), content, tarPadding(content.length)];
}

function block({ name, target, flag, mode, sizeBytes, seconds }: TarHeader): Buffer {
  const header = Buffer.alloc(tarBlockBytes);
  name.copy(header, 0, 0, nameBytes);
  header.write(octal(mode & 0o7777, 7), 100, "latin1");
  // Owner and group are those of whoever unpacks it.
  header.write(octal(0, 7), 108, "latin1");
  header.write(octal(0, 7), 116, "latin1");
  writeSize(header, sizeBytes);
  header.write(octal(seconds, 11), 136, "latin1");
  header.write(" ".repeat(8), 148, "latin1");
  header.write(flag, 156, "latin1");
  target.copy(header, 157, 0, nameBytes);
  header.write("ustar  \0", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  return header;
}

/** Beyond 8 GiB the number is binary, as GNU tar and BusyBox write it. */
function writeSize(header: Buffer, sizeBytes: number): void {
  if (sizeBytes <= maxOctalSize) header.write(octal(sizeBytes, 11), 124, "latin1");
  else {
    header.writeUInt8(0x80, 124);
    header.writeBigUInt64BE(BigInt(sizeBytes), 128);
  }
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
