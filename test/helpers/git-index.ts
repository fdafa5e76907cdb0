/** An entry of git's index. */
export interface IndexEntry {
  readonly name: string | Uint8Array;
  /** Default: a plain file. */
  readonly mode?: number;
  /** Of version 4: bytes of the name before that this one begins with. */
  readonly shares?: number;
}

/** What an index has beside its entries. */
interface IndexForm {
  /** Default: 2. */
  readonly version?: number;
  /** Of `indexExtension`. */
  readonly extension?: Uint8Array;
  /** What it says of the number of its entries; default: the truth. */
  readonly count?: number;
}

/** An index of git's, version 2, whose entries are repositories with these names. */
export function indexOf(names: readonly string[], extension = ""): Uint8Array {
  return gitIndex(
    names.map((name) => ({ name, mode: 0o160000 })),
    { extension: Buffer.from(extension, "latin1") },
  );
}

/** An index of git's, as it is or as a program may have made it. */
export function gitIndex(
  entries: readonly IndexEntry[],
  { version = 2, extension, count = entries.length }: IndexForm = {},
): Uint8Array {
  const header = Buffer.alloc(12);
  header.write("DIRC");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(count, 8);
  let before = 0;
  const parts = entries.map(({ name, mode = 0o100644, shares = 0 }) => {
    const bytes = Buffer.from(name as string);
    const numbers = Buffer.alloc(62);
    numbers.writeUInt32BE(mode, 24);
    numbers.writeUInt16BE(Math.min(bytes.length, 0xfff), 60);
    if (version < 4) {
      const size = (Math.floor((62 + bytes.length) / 8) + 1) * 8;
      return Buffer.concat([numbers, bytes], size);
    }
    const dropped = varint(before - shares);
    before = shares + bytes.length;
    return Buffer.concat([numbers, dropped, bytes, Buffer.alloc(1)]);
  });
  return Buffer.concat([header, ...parts, extension ?? Buffer.alloc(0), Buffer.alloc(20)]);
}

/** Git's number of any width. */
function varint(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | ((rest -= 1) & 0x7f));
  return Buffer.from(bytes);
}

/** An extension of an index. */
export function indexExtension(name: string, content: Uint8Array, size: number = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32BE(size, 4);
  return Buffer.concat([head, content]);
}
