import { describe, expect, it } from "vitest";
import { FileRecordReader } from "../folder-files.ts";
import { ProtocolError, type FrameFields } from "./frame.ts";
import { readLeft, readNumbers } from "./tree-records.ts";

interface RecordParts {
  readonly kind?: string;
  readonly name?: string;
  readonly target?: string;
  readonly mode?: number;
  readonly nanoseconds?: number;
  readonly zero?: number;
  readonly laterZero?: number;
  readonly lengthMore?: number;
}

function record(parts: RecordParts = {}): Buffer {
  const { kind = "f", name = "a.txt", target = "", mode = 0o644, nanoseconds = 5, zero = 0, laterZero = 0 } = parts;
  const names = Buffer.from(name + target, "latin1");
  const bytes = Buffer.alloc(56 + names.length);
  bytes.writeUInt32LE(52 + names.length + (parts.lengthMore ?? 0), 0);
  bytes.write(kind, 4, "latin1");
  bytes.writeUInt8(zero, 5);
  bytes.writeUInt16LE(Buffer.byteLength(name, "latin1"), 6);
  bytes.writeUInt16LE(Buffer.byteLength(target, "latin1"), 8);
  bytes.writeUInt16LE(laterZero, 10);
  bytes.writeUInt32LE(mode, 12);
  for (const [index, value] of [1, 1000, 1001, nanoseconds].entries()) bytes.writeUInt32LE(value, 16 + 4 * index);
  bytes.writeBigUInt64LE(2n ** 40n, 32);
  bytes.writeBigUInt64LE(77n, 40);
  bytes.writeBigInt64LE(-2n, 48);
  names.copy(bytes, 56);
  return bytes;
}

describe("FileRecordReader", () => {
  const bytes = Buffer.concat([record(), record({ kind: "l", name: "\xff\xfe", target: "../b", mode: 0o777 })]);

  it("gives each record back, wherever the bytes are cut", () => {
    const whole = new FileRecordReader().read(bytes);
    expect(whole).toMatchObject([
      {
        kind: "file",
        name: Buffer.from("a.txt"),
        target: Buffer.alloc(0),
        mode: 0o644,
        links: 1,
        user: 1000,
        group: 1001,
      },
      { kind: "link", name: Buffer.from([255, 254]), target: Buffer.from("../b") },
    ]);
    expect(whole[0]).toMatchObject({ sizeBytes: 2n ** 40n, inode: 77n, modifiedNs: -1_999_999_995n });
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const reader = new FileRecordReader();
      expect([...reader.read(bytes.subarray(0, cut)), ...reader.read(bytes.subarray(cut))], `cut at ${cut}`).toEqual(
        whole,
      );
      expect(reader.isWithinRecord).toBe(false);
    }
  });

  it("knows whether it is within a record", () => {
    const reader = new FileRecordReader();
    reader.read(bytes.subarray(0, 30));
    expect(reader.isWithinRecord).toBe(true);
  });

  it.each<[string, RecordParts]>([
    ["an unknown kind", { kind: "x" }],
    ["a file that cannot be looked into", { zero: 1 }],
    ["a folder that is more than closed", { kind: "d", zero: 2 }],
    ["a later byte that must be zero", { laterZero: 1 }],
    ["more than permission bits", { mode: 0o10_000 }],
    ["too many nanoseconds", { nanoseconds: 1_000_000_000 }],
    ["a length that is not that of its parts", { lengthMore: -1 }],
    ["a length that no record has", { lengthMore: 9_000 }],
    ["a shorter one than its fields", { lengthMore: -20 }],
    ["a name with a slash", { name: "a/b" }],
    ["a name with a NUL", { name: "a\0b" }],
    ["the name of the folder above", { name: ".." }],
  ])("refuses %s", (_, parts) => {
    expect(() => new FileRecordReader().read(record(parts))).toThrow(ProtocolError);
  });

  it("has paths for names in a tree, which lead nowhere else", () => {
    const tree = new FileRecordReader({ isTree: true });
    expect(tree.read(record({ name: "a/b", kind: "d", zero: 1 }))).toMatchObject([
      { name: Buffer.from("a/b"), isClosed: true },
    ]);
    for (const name of ["a/../b", "../a", "a/.", "/a", "a//b", "a/", "a/b\0"]) {
      expect(() => new FileRecordReader({ isTree: true }).read(record({ name })), name).toThrow(ProtocolError);
    }
  });
});

describe("readLeft", () => {
  const one = Buffer.alloc(24);
  one.writeUInt32LE(12, 0);
  one.writeUInt32LE(7, 4);
  one.write("sh", 8);

  it("tells the processes, and how many there are beyond the first", () => {
    expect(readLeft({ count: 1, tail: one })).toEqual({ count: 1, processes: [{ pid: 12, parent: 7, name: "sh" }] });
    const full = Buffer.concat(Array.from({ length: 256 }, () => one));
    expect(readLeft({ count: 70_000, tail: full })).toMatchObject({ count: 70_000 });
  });

  it.each([
    ["a part of a record", 1, one.subarray(1)],
    ["fewer records than it counts", 2, one],
    ["more records than it counts", 0, one],
    ["more records than there may be", 257, Buffer.concat(Array.from({ length: 257 }, () => one))],
  ])("refuses %s", (_, count, tail) => {
    expect(() => readLeft({ count, tail })).toThrow(ProtocolError);
  });
});

describe("readNumbers", () => {
  const unknown = 2n ** 64n - 1n;
  const fields: FrameFields<"STATS"> = {
    memoryBytes: 1n,
    memoryPeakBytes: unknown,
    memoryLimitBytes: 3n,
    memoryKills: 0n,
    cpuUs: 2500n,
    diskReadBytes: 4096n,
    diskWriteBytes: unknown,
    memoryCacheBytes: 3n,
    scratchBytes: unknown,
    processes: 4n,
    processLimit: unknown,
    monotonicUs: 1_000_000n,
    tail: Buffer.alloc(0),
  };

  it("has null for what cannot be known", () => {
    const tree = Buffer.alloc(24);
    tree.writeUInt32LE(3, 0);
    tree.writeUInt32LE(2, 4);
    tree.writeBigUInt64LE(unknown, 8);
    tree.writeBigUInt64LE(2n, 16);
    expect(readNumbers({ ...fields, tail: tree })).toEqual({
      memoryBytes: 1,
      memoryPeakBytes: null,
      memoryLimitBytes: 3,
      memoryKills: 0,
      cpuTimeMs: 2.5,
      diskReadBytes: 4096,
      diskWriteBytes: null,
      memoryCacheBytes: 3,
      scratchBytes: null,
      processes: 4,
      processLimit: null,
      monotonicMs: 1000,
      trees: [{ stream: 3, processes: 2, cpuMs: null, residentBytes: 2048 }],
    });
  });

  it("refuses a part of a record, and more trees than there may be", () => {
    expect(() => readNumbers({ ...fields, tail: Buffer.alloc(25) })).toThrow(ProtocolError);
    expect(() => readNumbers({ ...fields, tail: Buffer.alloc(24 * 257) })).toThrow(ProtocolError);
  });
});
