import { describe, expect, it } from "vitest";
import { gitIndex, indexExtension, type IndexEntry } from "../../../test/helpers/git-index.ts";
import {
  isSameTracked,
  newTrackedFolder,
  readTracked,
  ewahPositions,
  type TrackedFolder,
  type TrackedRoom,
} from "./tracked-tree.ts";

type Read = TrackedFolder | "form" | "large";

function read(
  index: Uint8Array,
  { prefix = "", room = { names: 500_000, entryBytes: 64 * 1024 * 1024 }, shared = null as Uint8Array | null } = {},
): Promise<Read> {
  return readTracked(index, { room, prefix, readShared: () => Promise.resolve(shared) });
}

/** Its files, and its submodules with a slash. */
function namesOf(tracked: Read, prefix = ""): readonly string[] {
  if (typeof tracked === "string") return [tracked];
  const below = [...tracked.folders].flatMap(([name, folder]) => namesOf(folder, `${prefix}${name}/`));
  return [...(tracked.isRepository ? [prefix] : []), ...[...tracked.files].map((name) => prefix + name), ...below];
}

const filesOf = (...names: readonly (string | Uint8Array)[]): readonly IndexEntry[] => names.map((name) => ({ name }));

describe("readTracked", () => {
  it("keeps files, links and submodules, of version 4 as well", async () => {
    const entries = [
      ...[{ name: "a" }, { name: "b/c/d", mode: 0o120000 }, { name: "b/c/e", mode: 0o100755 }],
      ...[{ name: "b/sub", mode: 0o160000 }, { name: "__proto__/x" }, { name: "sparse/", mode: 0o040000 }],
    ];
    const names = ["a", "b/c/d", "b/c/e", "b/sub/", "__proto__/x"];
    expect(namesOf(await read(gitIndex(entries)))).toEqual(names);
    expect(namesOf(await read(gitIndex(entries, { version: 4 })))).toEqual(names);
    const sharing = [{ name: `${"long".repeat(100)}/a` }, { name: "b", shares: 401 }, { name: "z", shares: 0 }];
    const long = "long".repeat(100);
    const kept = await read(gitIndex(sharing, { version: 4 }));
    expect(namesOf(kept)).toEqual(["z", `${long}/a`, `${long}/b`]);
  });

  it("keeps what is below the project's folder alone", async () => {
    const index = gitIndex(filesOf("app", "app/a", "app/b/c", "apple/d", "other/app/e"));
    expect(namesOf(await read(index, { prefix: "app/" }))).toEqual(["a", "b/c"]);
  });

  it.each(["../x", "/x", "a//b", "a/../b", "a/./b", ".", "", "a/", ".git/config", "a/.GIT/hooks/x", "a/.git", "a\0b"])(
    "leaves out the name %j, which git refuses",
    async (name) => expect(namesOf(await read(gitIndex(filesOf(name, "fine"))))).toEqual(["fine"]),
  );

  it("leaves out a name that is not UTF-8", async () => {
    expect(namesOf(await read(gitIndex(filesOf(Buffer.from([0x61, 0xff]), "fine"))))).toEqual(["fine"]);
  });

  it("takes no more than there is room for, though names share their beginnings or come again and again", async () => {
    const room = (): TrackedRoom => ({ names: 1_000, entryBytes: 1_000_000 });
    expect(await read(gitIndex(filesOf(...Array.from({ length: 1_001 }, (_, at) => `${at}`))), { room: room() })).toBe(
      "large",
    );
    expect(await read(gitIndex(filesOf("a/".repeat(1_500) + "b")), { room: room() })).toBe("large");
    const sharing = [{ name: "n".repeat(4_000) }, ...Array.from({ length: 300 }, () => ({ name: "x", shares: 3_999 }))];
    expect(await read(gitIndex(sharing, { version: 4 }), { room: room() })).toBe("large");
    // Of all indexes together, those that were not understood as well.
    const spent = room();
    const cut = gitIndex(filesOf(...Array.from({ length: 450 }, (_, at) => `${at}${"n".repeat(900)}`)));
    expect(await read(cut.subarray(0, -21), { room: spent })).toBe("form");
    expect(spent.entryBytes).toBeLessThan(600_000);
    while ((await read(cut, { room: spent })) !== "large") expect(spent.entryBytes).toBeGreaterThan(0);
    expect(await read(gitIndex(filesOf("a".repeat(1_000))), { room: spent })).toBe("large");
    const left = room();
    const many = gitIndex(filesOf(...Array.from({ length: 600 }, (_, at) => `${at}`)));
    expect(namesOf(await read(many, { room: left }))).toHaveLength(600);
    expect(await read(many, { room: left })).toBe("large");
  });

  it("does not understand lengths that lead beyond the index", async () => {
    const whole = gitIndex(filesOf("a", "b"));
    const name = "x".repeat(4_095);
    for (const index of [
      gitIndex(filesOf("a"), { count: 0xffff_ffff }),
      gitIndex(filesOf("a"), { extension: indexExtension("TREE", Buffer.alloc(4), 0xffff_ffff) }),
      gitIndex([{ name: "a" }, { name: "b", shares: -70_000 }], { version: 4 }),
      gitIndex([{ name }, { name: "b", shares: 4_095 }, { name, shares: 4_096 }], { version: 4 }),
      gitIndex(filesOf("a"), { version: 5 }),
      whole.subarray(0, whole.length - 21),
      whole.subarray(0, 5),
      Buffer.concat([whole, Buffer.alloc(3)]),
      Buffer.from("not an index at all, by its first bytes"),
    ])
      expect(await read(index)).toBe("form");
    expect(namesOf(await read(new Uint8Array()))).toEqual([]);
  });

  it("reads the shared part of a split index without what is gone, and says so where it is not there", async () => {
    const words = Buffer.alloc(28);
    words.writeUInt32BE(3, 0);
    words.writeUInt32BE(2, 4);
    words.writeBigUInt64BE(1n << 33n, 8);
    words.writeBigUInt64BE(0b010n, 16);
    const link = Buffer.concat([Buffer.alloc(20, 7), words]);
    const index = gitIndex(filesOf("new", ""), { extension: indexExtension("link", link) });
    const shared = gitIndex(filesOf("a", "gone", "z"));
    expect(namesOf(await read(index, { shared })).toSorted()).toEqual(["a", "new", "z"]);
    expect(await read(index)).toBe("form");
    expect(await read(index, { shared: Buffer.from("DIRC") })).toBe("form");
    // A link that names nothing, as git writes it into the shared part itself.
    const none = gitIndex(filesOf("a"), { extension: indexExtension("link", Buffer.alloc(20)) });
    expect(namesOf(await read(none))).toEqual(["a"]);
  });

  it("comes to an end with whatever bytes, and tells no name that a path cannot have", async () => {
    let state = 1;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return (state >> 4) % below;
    };
    const link = Buffer.alloc(60, 3);
    const entries = [...filesOf("a", "b/c/d", "b/c/e.log", "x/y"), { name: "sub", mode: 0o160000 }];
    for (let round = 0; round < 3_000; round += 1) {
      const version = 2 + random(3);
      const bytes = Buffer.from(gitIndex(entries, { version, extension: indexExtension("link", link) }));
      for (let times = random(12); times >= 0; times -= 1) bytes[random(bytes.length)] = random(256);
      const cut = bytes.subarray(0, random(4) === 0 ? random(bytes.length) : bytes.length);
      const names = namesOf(await read(cut, { shared: bytes }));
      for (const name of names) expect(name).not.toMatch(/(?:^|\/)(?:\.{1,2}|\.git)(?:\/|$)|^\/|\/\/|\0/i);
    }
  });
});

it("isSameTracked finds each difference", async () => {
  const tree = async (...entries: readonly IndexEntry[]): Promise<TrackedFolder | null> => {
    const tracked = await read(gitIndex(entries));
    return typeof tracked === "string" ? null : tracked;
  };
  const one = await tree({ name: "a" }, { name: "b/c" });
  expect(isSameTracked(one, await tree({ name: "b/c" }, { name: "a" }))).toBe(true);
  for (const other of [
    null,
    newTrackedFolder(),
    await tree({ name: "a" }),
    await tree({ name: "a" }, { name: "b/d" }),
    await tree({ name: "x" }, { name: "b/c" }),
    await tree({ name: "a" }, { name: "b/c" }, { name: "b", mode: 0o160000 }),
    await tree({ name: "a" }, { name: "d/c" }),
  ])
    expect(isSameTracked(one, other)).toBe(false);
  expect(isSameTracked(null, null)).toBe(true);
});

/** Words of 64 bits, as git writes them. */
function bitmap(words: readonly bigint[], count = words.length): Uint8Array {
  const bytes = Buffer.alloc(12 + words.length * 8);
  bytes.writeUInt32BE(1_000, 0);
  bytes.writeUInt32BE(count, 4);
  for (const [at, word] of words.entries()) bytes.writeBigUInt64BE(word, 8 + at * 8);
  return bytes;
}

/** One run of equal bits, in words, and so many plain words after it. */
const marker = (isSet: boolean, run: bigint, plain: bigint): bigint => (isSet ? 1n : 0n) | (run << 1n) | (plain << 33n);

it("reads runs and plain words", () => {
  const words = [marker(false, 1n, 2n), 0b101n, 1n << 63n, marker(true, 1n, 0n)];
  expect([...ewahPositions(bitmap(words), 1_000)]).toEqual([
    ...[64, 66, 191],
    ...Array.from({ length: 64 }, (_, at) => 192 + at),
  ]);
});

it("stops at its limit and at the end of its bytes, whatever it says of its size", () => {
  expect([...ewahPositions(bitmap([marker(true, 0xffff_ffffn, 0n)]), 100)]).toHaveLength(100);
  expect([...ewahPositions(bitmap([marker(false, 0xffff_ffffn, 0x7fff_ffffn), 1n]), 1_000_000)]).toEqual([]);
  expect([...ewahPositions(bitmap([marker(false, 0n, 0x7fff_ffffn), 1n], 0xffff_ffff), 1_000_000)]).toEqual([0]);
  expect([...ewahPositions(bitmap([marker(false, 0n, 1n), 1n]).subarray(0, 17), 100)]).toEqual([]);
  for (const length of [0, 4, 8]) expect([...ewahPositions(new Uint8Array(length).fill(255), 100)]).toEqual([]);
});
