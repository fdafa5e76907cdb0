import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { startedScene } from "../../../test/helpers/supervised-scene.ts";
import type { SupervisorStandIn } from "../../../test/helpers/supervisor-stand-in.ts";
import { fileFlags, fileVerbs } from "./frames/frame-table.ts";
import type { FolderFiles } from "./folder-files.ts";

async function opened(): Promise<{ readonly files: FolderFiles; readonly standIn: SupervisorStandIn }> {
  const { container, standIn } = await startedScene();
  return { files: container.files("/work", "1000:1001"), standIn };
}

function record(name: string, kind = "f", { sizeBytes = 0, closed = 0 } = {}): Buffer {
  const names = Buffer.from(name);
  const bytes = Buffer.alloc(56 + names.length);
  bytes.writeUInt32LE(bytes.length - 4, 0);
  bytes.write(kind, 4);
  bytes.writeUInt16LE(names.length, 6);
  bytes.writeUInt8(closed, 5);
  bytes.writeBigUInt64LE(BigInt(sizeBytes), 32);
  names.copy(bytes, 56);
  return bytes;
}

async function all(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of bytes) text += Buffer.from(piece).toString();
  return text;
}

const paths = ({ fields }: Awaited<ReturnType<typeof frameOf>>): readonly string[] => {
  const text = Buffer.from(fields.tail).toString();
  const { folderBytes, pathBytes } = fields;
  return [
    text.slice(0, folderBytes),
    text.slice(folderBytes, folderBytes + pathBytes),
    text.slice(folderBytes + pathBytes),
  ];
};

const frameOf = (standIn: SupervisorStandIn) => standIn.next("FILE");

describe("FolderFiles", () => {
  it("looks and lists", async () => {
    const { files, standIn } = await opened();
    const looked = files.look("a/b");
    const frame = await frameOf(standIn);
    expect(frame.fields).toMatchObject({ verb: fileVerbs.LOOK, user: 1000, group: 1001, deadlineMs: 60_000 });
    expect(paths(frame)).toEqual(["/work", "a/b", ""]);
    standIn.output(1, record("b"));
    standIn.end(1);
    expect(await looked).toMatchObject({ kind: "file", name: Buffer.from("b") });
    const listed = files.list("");
    await standIn.next("FILE", 2);
    const bytes = Buffer.concat([record("x"), record("y", "d")]);
    standIn.output(2, bytes.subarray(0, 70));
    standIn.output(2, bytes.subarray(70));
    standIn.end(2);
    const { records, isWhole } = await listed;
    expect(records.map(({ kind, name }) => [kind, name.toString()])).toEqual([
      ["file", "x"],
      ["folder", "y"],
    ]);
    expect(isWhole).toBe(true);
  });

  it("lists a tree, as far as the limits go", async () => {
    const { files, standIn } = await opened();
    const limits = { levels: "all of its file system", maxEntries: 3, maxBytes: 200, keepsPart: true } as const;
    const listings = [0, 1, 2, 3].map(() => files.list("", limits));
    await standIn.next("FILE", 4);
    for (const { fields } of standIn.got("FILE")) {
      expect(fields).toMatchObject({ verb: fileVerbs.LIST, flags: fileFlags.TREE, offset: 0n, maxEntries: 3 });
    }
    const tree = [record("a", "d", { closed: 1 }), record("a/b")];
    for (const number of [1, 2, 3]) standIn.output(number, Buffer.concat(tree));
    standIn.end(1);
    standIn.end(2, { reason: 1, stage: 17, error: 27 });
    standIn.end(3, { reason: 3 });
    // More bytes than the limit: what came first is the answer, and the rest is not waited for.
    standIn.output(4, Buffer.concat([...tree, record("x".repeat(100))]));
    expect((await standIn.next("CLOSE")).stream).toBe(4);
    standIn.end(4, { reason: 4 });
    const found = await Promise.all(listings);
    expect(found.map(({ isWhole }) => isWhole)).toEqual([true, false, false, false]);
    expect(found[0]?.records).toMatchObject([{ name: Buffer.from("a"), isClosed: true }, { isClosed: false }]);
    expect(found.map(({ records }) => records.length)).toEqual([2, 2, 2, 3]);
    const late = failureOf(files.list(""), "TIMEOUT");
    await standIn.next("FILE", 5);
    standIn.end(5, { reason: 3 });
    await late;
  });

  it("reads as it comes, and does not take a part for the whole", async () => {
    const { files, standIn } = await opened();
    const reading = files.read("a", { offset: 5, maxBytes: 100, followsLink: true });
    expect((await frameOf(standIn)).fields).toMatchObject({
      ...{ verb: fileVerbs.READ, offset: 5n, maxBytes: 100n, flags: fileFlags.FOLLOW },
    });
    const bytes = Buffer.concat([record("", "f", { sizeBytes: 12 }), Buffer.from("con")]);
    standIn.output(1, bytes.subarray(0, 20));
    standIn.output(1, bytes.subarray(20));
    standIn.output(1, "tent");
    standIn.end(1);
    const file = await reading;
    expect(file.record.sizeBytes).toBe(12n);
    expect(await all(file.bytes)).toBe("content");
    const part = files.read("b");
    await standIn.next("FILE", 2);
    standIn.output(2, Buffer.concat([record("", "f", { sizeBytes: 9 }), Buffer.from("half")]));
    standIn.end(2, { reason: 1, stage: 12, error: 5 });
    await failureOf(all((await part).bytes), "INTERNAL");
  });

  it.each([
    ["after its first piece", true],
    ["before it has begun", false],
  ])("ends a reading that its reader gives up %s", async (_, hasBegun) => {
    const { files, standIn } = await opened();
    const reading = files.read("a");
    await frameOf(standIn);
    standIn.output(1, Buffer.concat([record("", "f", { sizeBytes: 900 }), Buffer.from("piece")]));
    const reader = (await reading).bytes[Symbol.asyncIterator]();
    if (hasBegun) await reader.next();
    await reader.return?.();
    expect((await standIn.next("CLOSE")).stream).toBe(1);
  });

  it("writes with its flags, and is done when the sandbox says so", async () => {
    const { files, standIn } = await opened();
    let isDone = false;
    const options = { mode: 0o600, makesFolders: true, isNew: true };
    const writing = files.write("d/e", Readable.from([Buffer.from("con"), Buffer.from("tent")]), options);
    const written = writing.then(() => (isDone = true));
    const { fields } = await frameOf(standIn);
    expect(fields).toMatchObject({
      verb: fileVerbs.WRITE,
      mode: 0o600,
      flags: fileFlags.PARENTS | fileFlags.EXCLUSIVE | fileFlags.MODE,
    });
    await standIn.next("INPUT_END");
    expect(standIn.input(1).toString()).toBe("content");
    expect(isDone).toBe(false);
    standIn.end(1, { first: 7n });
    await written;
  });

  it("stops to write what was refused, and says why", async () => {
    const { files, standIn } = await opened();
    let asked = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        asked += 1;
        yield Buffer.alloc(16_384);
      }
    }
    const writing = failureOf(files.write("a", endless()), "POLICY_DENIED");
    await frameOf(standIn);
    standIn.end(1, { reason: 1, stage: 12, error: 28 });
    expect((await writing).message).toBe('"/work/a" does not fit: the sandbox\'s writable space is full.');
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toBe(before);
  });

  it("does not leave half of what could not be read here", async () => {
    const { files, standIn } = await opened();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("half");
      throw new Error("source broke");
    }
    const unpacking = files.unpack("", broken(), { makesFolders: true });
    unpacking.catch(() => undefined);
    expect((await frameOf(standIn)).fields).toMatchObject({ verb: fileVerbs.UNPACK, flags: fileFlags.PARENTS });
    await standIn.next("CLOSE");
    standIn.end(1, { reason: 4 });
    await expect(unpacking).rejects.toThrow("source broke");
    expect(standIn.got("INPUT_END")).toEqual([]);
  });

  it("makes, moves, removes and changes modes", async () => {
    const { files, standIn } = await opened();
    const work = [
      files.makeFolder("a", { makesFolders: true }),
      files.move("a", "b", { isNew: true, makesFolders: true }),
      files.remove("c", { isTree: true }),
      files.remove("d"),
      files.changeMode("e", 0o755),
    ];
    await standIn.next("FILE", 5);
    const frames = standIn.got("FILE");
    expect(frames.map(({ fields }) => [fields.verb, fields.flags, fields.mode])).toEqual([
      [fileVerbs.MAKE, fileFlags.PARENTS, 0o755],
      [fileVerbs.MOVE, fileFlags.EXCLUSIVE | fileFlags.PARENTS, 0],
      [fileVerbs.REMOVE, fileFlags.TREE, 0],
      [fileVerbs.REMOVE, 0, 0],
      [fileVerbs.CHMOD, 0, 0o755],
    ]);
    expect(paths(frames[1]!)).toEqual(["/work", "a", "b"]);
    for (const { stream } of frames) standIn.end(stream);
    await Promise.all(work);
  });

  it.each([
    [{ reason: 1, stage: 11, error: 2 }, "NOT_FOUND"],
    [{ reason: 1, stage: 11, error: 13 }, "PERMISSION_DENIED"],
    [{ reason: 1, stage: 11, error: 40 }, "INVALID_REQUEST"],
    [{ reason: 1, stage: 11, error: 18 }, "INVALID_REQUEST"],
    [{ reason: 1, stage: 11, error: 17 }, "ALREADY_EXISTS"],
    [{ reason: 1, stage: 11, error: 21 }, "INVALID_REQUEST"],
    [{ reason: 1, stage: 16, error: 0 }, "INVALID_REQUEST"],
    [{ reason: 1, stage: 17, error: 0 }, "POLICY_DENIED"],
    [{ reason: 5, stage: 1, error: 0 }, "CAPACITY"],
    [{ reason: 1, stage: 18, error: 0 }, "POLICY_DENIED"],
    [{ reason: 3, stage: 0, error: 0 }, "TIMEOUT"],
    [{ reason: 1, stage: 12, error: 71 }, "INTERNAL"],
  ] as const)("says what went wrong (%o: %s)", async (end, type) => {
    const { files, standIn } = await opened();
    const removing = failureOf(files.remove("a"), type);
    await frameOf(standIn);
    standIn.end(1, end);
    await removing;
  });

  it("is cancelled inside too", async () => {
    const { files, standIn } = await opened();
    const abort = new AbortController();
    const removing = failureOf(files.remove("a", { signal: abort.signal }), "CANCELLED");
    await frameOf(standIn);
    abort.abort();
    await standIn.next("CLOSE");
    standIn.end(1, { reason: 4 });
    await removing;
    await failureOf(files.remove("a", { signal: abort.signal }), "CANCELLED");
    expect(standIn.got("FILE")).toHaveLength(1);
  });

  it("is lost with its sandbox", async () => {
    const { files, standIn } = await opened();
    const work = [
      failureOf(files.look("a"), "SANDBOX_LOST"),
      failureOf(files.remove("a"), "SANDBOX_LOST"),
      failureOf(files.read("a"), "SANDBOX_LOST"),
      failureOf(files.write("a", Readable.from([Buffer.alloc(300_000)])), "SANDBOX_LOST"),
    ];
    await standIn.next("FILE", 4);
    standIn.side.end();
    await Promise.all(work);
  });

  it.each(["../a", "a/../b", "./a", "a//b", "/a", "a/", "a\0b", "x".repeat(4096)])(
    "refuses the path %j",
    async (path) => {
      const { files, standIn } = await opened();
      await failureOf(files.remove(path), "INVALID_REQUEST");
      await failureOf(files.move("a", path), "INVALID_REQUEST");
      expect(standIn.got("FILE")).toEqual([]);
    },
  );

  it("refuses a folder that is not absolute", async () => {
    const { container } = await startedScene();
    await failureOf(container.files("work").look(""), "INVALID_REQUEST");
  });
});

describe("a supervisor that lies about files", () => {
  it.each([
    ["a record that does not fit", record("a/b")],
    ["a file that cannot be looked into", record("a", "f", { closed: 1 })],
    ["half a record", record("a").subarray(0, 40)],
    ["a length beyond all bounds", Buffer.alloc(8, 255)],
  ])("%s ends its sandbox", async (_, bytes) => {
    const { files, standIn } = await opened();
    const listed = failureOf(files.list(""), "SANDBOX_LOST");
    await frameOf(standIn);
    standIn.output(1, bytes);
    standIn.end(1);
    await listed;
    expect(standIn.transport.destroyed).toBe(true);
  });

  it("more entries than were asked for end its sandbox", async () => {
    const { files, standIn } = await opened();
    const listed = failureOf(files.list("", { maxEntries: 2 }), "SANDBOX_LOST");
    await frameOf(standIn);
    for (const name of ["a", "b", "c"]) standIn.output(1, record(name));
    standIn.end(1);
    await listed;
  });

  it.each([
    ["more bytes than it has", Buffer.concat([record("", "f", { sizeBytes: 3 }), Buffer.from("four")])],
    ["no record", Buffer.alloc(100, 255)],
    ["half a record", record("").subarray(0, 40)],
  ])("a file with %s ends its sandbox", async (_, bytes) => {
    const { files, standIn } = await opened();
    const reading = failureOf(
      files.read("a").then((file) => all(file.bytes)),
      "SANDBOX_LOST",
    );
    await frameOf(standIn);
    standIn.output(1, bytes);
    standIn.end(1);
    await reading;
    expect(standIn.transport.destroyed).toBe(true);
  });

  it("a description of no file is no description", async () => {
    const { files, standIn } = await opened();
    const looked = failureOf(files.look("a"), "SANDBOX_LOST");
    await frameOf(standIn);
    standIn.end(1);
    await looked;
  });
});
