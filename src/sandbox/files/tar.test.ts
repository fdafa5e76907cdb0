import { describe, expect, it } from "vitest";
import type { NewTreeEntry, TreeEntry } from "./file-way.ts";
import { decodeTar, parsePaxRecords, parseTarHeader, encodeTar } from "./tree-archive.ts";
import { tarEnd, tarHeader, tarPadding } from "../../base/tar.ts";

const modifiedAtMs = 1_000_000_000_000;

/** The bytes in pieces of that size. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function file(path: string, content: Buffer): NewTreeEntry {
  return { kind: "file", path, mode: 0o640, modifiedAtMs, sizeBytes: content.length, chunks: pieces(content, 100) };
}

async function archiveOf(...entries: readonly NewTreeEntry[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of encodeTar(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function decode(archive: Buffer, size = 700): Promise<[TreeEntry, Buffer][]> {
  const decoded: [TreeEntry, Buffer][] = [];
  for await (const entry of decodeTar(pieces(archive, size))) {
    const chunks: Uint8Array[] = [];
    if (entry.kind === "file") for await (const chunk of entry.chunks) chunks.push(chunk);
    decoded.push([entry, Buffer.concat(chunks)]);
  }
  return decoded;
}

/** A header with a content as another tar would write it. */
function raw(flag: string, name: string, content: Buffer): Buffer {
  const header = tarHeader(file(name, content));
  header.write(flag, 156, "latin1");
  return Buffer.concat([summed(header), content, tarPadding(content.length)]);
}

function summed(header: Buffer): Buffer {
  header.write(" ".repeat(8), 148, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

describe("an archive", () => {
  it.each([0, 1, 511, 512, 513, 1024, 100_000])("gives a file of %d bytes back", async (size) => {
    const content = Buffer.alloc(size, "abc");
    const decoded = await decode(await archiveOf(file("a/b", content), file("next", Buffer.from("x"))));
    expect(decoded.map(([{ path }, bytes]) => [path, bytes.length])).toEqual([
      ["a/b", size],
      ["next", 1],
    ]);
    expect(decoded[0]?.[0]).toMatchObject({ kind: "file", mode: 0o640, modifiedAtMs, sizeBytes: size });
    expect(decoded[0]?.[1].equals(content)).toBe(true);
  });

  it.each([1, 7, 511, 512, 513, 100_000])("is read in pieces of %d bytes", async (size) => {
    const decoded = await decode(await archiveOf(file("a", Buffer.from("12345")), file("b", Buffer.alloc(600))), size);
    expect(decoded.map(([{ path }, bytes]) => [path, bytes.length])).toEqual([
      ["a", 5],
      ["b", 600],
    ]);
  });

  it.each([99, 100, 101, 255, 3000])("keeps names and targets of %d bytes", async (length) => {
    const [path, target] = ["p".repeat(length), "t".repeat(length)];
    const common = { mode: 0o755, modifiedAtMs };
    const decoded = await decode(
      await archiveOf(
        { ...common, kind: "folder", path },
        { ...common, kind: "link", path, target },
        { ...common, kind: "hard-link", path, target },
      ),
    );
    expect(decoded.map(([entry]) => entry)).toEqual([
      { ...common, kind: "folder", path },
      { ...common, kind: "link", path, target },
      { ...common, kind: "hard-link", path, target },
    ]);
  });

  it("skips what of a file is not read", async () => {
    const archive = await archiveOf(file("a", Buffer.alloc(5000)), file("b", Buffer.from("b")));
    const paths: string[] = [];
    for await (const entry of decodeTar(pieces(archive, 512))) paths.push(entry.path);
    expect(paths).toEqual(["a", "b"]);
  });

  it("tells the size of a file beyond 8 GiB", () => {
    const sizeBytes = 9 * 2 ** 33;
    const header = tarHeader({
      ...(file("big", Buffer.alloc(0)) as Extract<NewTreeEntry, { kind: "file" }>),
      sizeBytes,
    });
    expect(parseTarHeader(header)?.sizeBytes).toBe(sizeBytes);
  });

  it("of the POSIX form has its words before each header", async () => {
    const record = (text: string): string => {
      let length = text.length + 2;
      while (`${length} ${text}\n`.length !== length) length++;
      return `${length} ${text}\n`;
    };
    const words = Buffer.from(["path=naïve", "mtime=12.5", "comment=a=b\nc"].map(record).join(""), "latin1");
    const utf8 = Buffer.from(record("path=x").replace("path=x", "path=x"));
    expect(parsePaxRecords(utf8).get("path")?.toString()).toBe("x");
    const archive = Buffer.concat([
      raw("g", "global", Buffer.from(record("path=never"))),
      raw("x", "words", Buffer.from(record("path=very/long"))),
      raw("0", "short", Buffer.from("content")),
      raw("0", "other", Buffer.alloc(0)),
      tarEnd,
    ]);
    const decoded = await decode(archive);
    expect(decoded.map(([{ path }]) => path)).toEqual(["very/long", "other"]);
    expect(parsePaxRecords(words).get("mtime")?.toString()).toBe("12.5");
  });

  it("shows devices and FIFOs as such", async () => {
    const archive = Buffer.concat([...["3", "4", "6"].map((flag) => raw(flag, flag, Buffer.alloc(0))), tarEnd]);
    expect((await decode(archive)).map(([{ kind }]) => kind)).toEqual(["other", "other", "other"]);
  });

  it.each(["", "a", "x".repeat(512)])("is none when it is %j", async (text) => {
    await expect(decode(Buffer.from(text))).rejects.toThrow(RangeError);
  });

  it("is none when it is cut off", async () => {
    const archive = await archiveOf(file("a", Buffer.alloc(1000)));
    for (const length of [512, 600, 1511, 1536]) {
      await expect(decode(archive.subarray(0, length)), `${length}`).rejects.toThrow(RangeError);
    }
  });

  it.each([
    [
      "headers that no entry follows",
      [
        ...Array.from({ length: 20 }, () => raw("L", "x", Buffer.alloc(100, "p"))),
        raw("0", "f", Buffer.alloc(0)),
        tarEnd,
      ],
    ],
    ["a path longer than any", [raw("L", "x", Buffer.alloc(5_000, "p")), raw("0", "f", Buffer.alloc(0)), tarEnd]],
    ["an end that does not end", [tarEnd, Buffer.alloc(2_000_000)]],
    ["a number beyond measure", [raw("x", "x", Buffer.from("16 size=1e999999\n")), raw("0", "f", Buffer.alloc(0))]],
  ])("is refused for %s", async (_, parts) => {
    const refused = await decode(Buffer.concat(parts), 65_536).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RangeError);
  });

  it.each([
    ["without its line's end", "9 path=ab"],
    ["longer than the header", "90 path=ab\n"],
    ["without a name", "5 ab\n"],
    ["whose name ends behind it", `5 ab\n13 path=abcd\n`],
    ["of no length", "0 path=ab\n"],
    ["of a length in another form", "1e1 path=ab\n"],
  ])("is refused for a record %s", (_, text) => {
    expect(() => parsePaxRecords(Buffer.from(text))).toThrow(RangeError);
  });

  it("is refused when its words are beyond measure or its names are no UTF-8", async () => {
    await expect(decode(Buffer.concat([raw("L", "x", Buffer.alloc(70_000)), tarEnd]))).rejects.toThrow(RangeError);
    const header = tarHeader(file("bad?", Buffer.alloc(0)));
    header.writeUInt8(0xff, 3);
    await expect(decode(Buffer.concat([summed(header), tarEnd]))).rejects.toThrow(TypeError);
  });
});

describe("what goes into an archive", () => {
  it.each(["/absolute", "../up", "a/../../b", "zero\0", "\ud800"])("has no path %j", async (path) => {
    await expect(archiveOf(file(path, Buffer.alloc(1)))).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });

  it("has the size that it told: one that grew is cut, one that shrank is refused", async () => {
    const grown = { ...file("a", Buffer.from("12345")), sizeBytes: 3 } as NewTreeEntry;
    expect((await decode(await archiveOf(grown)))[0]?.[1].toString()).toBe("123");
    const shrunk = { ...file("a", Buffer.from("12345")), sizeBytes: 6 } as NewTreeEntry;
    await expect(archiveOf(shrunk)).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });
});
