import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { whileSwapping } from "../../../test/helpers/swapping.ts";
import type { TreeEntry } from "../files/file-way.ts";
import { CopyBudget, type CopyLimits } from "./copy-budget.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { TreeWriter } from "./tree-writer.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-copy-"));
  mkdirSync(at("target"));
  mkdirSync(at("outside"));
});
const usual = process.umask(0o022);
afterEach(() => {
  process.umask(0o022);
  rmSync(folder, { recursive: true });
});
afterAll(() => void process.umask(usual));

const common = { mode: 0o644, modifiedAtMs: 1_000_000_000_000 };
const file = (name: string, text = "evil", mode = 0o644): TreeEntry => ({
  ...common,
  mode,
  kind: "file",
  path: name,
  sizeBytes: Buffer.byteLength(text),
  chunks: (async function* () {
    yield Buffer.from(text);
  })(),
});
const inner = (name: string, mode = 0o755): TreeEntry => ({ ...common, mode, kind: "folder", path: name });
const link = (name: string, target: string): TreeEntry => ({ ...common, kind: "link", path: name, target });
const second = (name: string, target: string): TreeEntry => ({ ...common, kind: "hard-link", path: name, target });

async function write(entries: readonly TreeEntry[], limits: CopyLimits = {}): Promise<readonly string[]> {
  const budget = new CopyBudget(limits);
  await using root = await HostFolder.open(at("target"), process.platform);
  await using writer = new TreeWriter(root, { budget, platform: process.platform });
  for (const entry of entries) await writer.write(entry, []);
  return budget.warnings;
}

/** Whatever a tree did, it did nothing there. */
const nothingOutside = (): void => {
  expect(readdirSync(at("outside"))).toEqual([]);
  expect(readdirSync(folder).toSorted()).toEqual(["outside", "target"]);
};

describe("an ordinary tree", () => {
  it("arrives with its contents, permissions, times and links", async () => {
    const names = ["plain", "with space", "line\nbreak", "-rf", "日本"];
    const warnings = await write([
      inner("a", 0o750),
      inner("a/b", 0o500),
      file("a/b/f", "text", 0o755),
      link("a/up", "../plain"),
      second("a/again", "a/b/f"),
      ...names.map((name) => file(name, name)),
    ]);
    expect(warnings).toEqual([]);
    expect(names.map((name) => readFileSync(at("target", name), "utf8"))).toEqual(names);
    expect(readFileSync(at("target/a/again"), "utf8")).toBe("text");
    expect(lstatSync(at("target/a/again")).ino).toBe(lstatSync(at("target/a/b/f")).ino);
    expect(lstatSync(at("target/a/b/f")).mode & 0o7777).toBe(0o755);
    expect(lstatSync(at("target/a/b")).mode & 0o7777).toBe(0o500);
    expect(lstatSync(at("target/a")).mode & 0o7777).toBe(0o750);
    expect(lstatSync(at("target/a/b/f")).mtimeMs).toBe(common.modifiedAtMs);
    expect(readlinkSync(at("target/a/up"))).toBe("../plain");
  });

  it("replaces files and adds to folders that are there", async () => {
    mkdirSync(at("target/a"));
    writeFileSync(at("target/a/old"), "old");
    writeFileSync(at("target/a/both"), "old");
    await write([inner("a"), file("a/both", "new"), file("a/new", "new")]);
    const read = (name: string): string => readFileSync(at("target/a", name), "utf8");
    expect(["old", "both", "new"].map(read)).toEqual(["old", "new", "new"]);
    expect(readdirSync(at("target/a")).toSorted()).toEqual(["both", "new", "old"]);
  });
});

it.each([0o077, 0o027])("arrives with the permissions that a umask of %o leaves", async (umask) => {
  process.umask(umask);
  await write([inner("d", 0o777), inner("d/closed", 0o555), file("d/f", "x", 0o666), file("tool", "x", 0o755)]);
  const modes = ["d", "d/closed", "d/f", "tool"].map((name) => lstatSync(at("target", name)).mode & 0o7777);
  expect(modes).toEqual([0o777, 0o555, 0o666, 0o755].map((mode) => mode & ~umask));
});

describe("a hostile tree", () => {
  it.each([["../outside/f"], ["a/../../outside/f"], [".."], ["./f"], ["a//f"], ["a\0b"]])(
    "by the name %j",
    async (name) => {
      await failureOf(write([inner("a"), file(name)]), "POLICY_DENIED");
      nothingOutside();
    },
  );

  it("by a link of its own and a file behind it", async () => {
    const warnings = await write([link("x", at("outside")), link("y", "../outside")]);
    expect(warnings.join()).toContain('"x", "y"');
    await failureOf(write([link("x", at("outside")), file("x/evil")]), "NOT_FOUND");
    // Also behind a link that stays inside: no link is a folder.
    await failureOf(write([inner("real"), link("z", "real"), file("z/evil")]), "INVALID_REQUEST");
    expect(readdirSync(at("target/real"))).toEqual([]);
    nothingOutside();
  });

  it("by a link in the place of a folder that it has just made", async () => {
    await failureOf(write([inner("a"), file("a/f"), link("a", "b"), file("a/g")]), "INVALID_REQUEST");
    nothingOutside();
  });

  it("by a link that was there already", async () => {
    symlinkSync(at("outside"), at("target/x"));
    symlinkSync(at("outside/f"), at("target/f"));
    await failureOf(write([file("x/evil")]), "INVALID_REQUEST");
    await failureOf(write([inner("x")]), "INVALID_REQUEST");
    await write([file("f", "mine")]);
    expect(lstatSync(at("target/f")).isFile()).toBe(true);
    nothingOutside();
  });

  it("by a second name of a file outside", async () => {
    writeFileSync(at("target/own"), "own");
    await failureOf(write([second("f", "../outside")]), "POLICY_DENIED");
    const warnings = await write([second("f", "own"), second("g", "own")]);
    expect(warnings.join()).toContain("second names");
    expect(readdirSync(at("target"))).toEqual(["own"]);
  });

  it("by bits that give its rights to others, and by what is no file", async () => {
    const warnings = await write([
      file("s", "x", 0o6755),
      inner("d", 0o7777),
      { ...common, kind: "other", path: "dev" },
    ]);
    expect(lstatSync(at("target/s")).mode & 0o7777).toBe(0o755);
    expect(lstatSync(at("target/d")).mode & 0o7777).toBe(0o755);
    expect(warnings.join()).toContain('"dev"');
    expect(readdirSync(at("target")).toSorted()).toEqual(["d", "s"]);
  });

  it("by a file that has more bytes than it says, of which none beyond the limit is written", async () => {
    const lying: TreeEntry = { ...file("big", "12345678"), sizeBytes: 1 } as TreeEntry;
    const refused = await write([file("a", "123"), lying], { maxBytes: 8 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ errorType: "POLICY_DENIED" });
    expect(readdirSync(at("target"))).toEqual(["a"]);
  });

  it("by its size or its number of entries, before anything of them is written", async () => {
    const endless: TreeEntry = { ...file("big"), sizeBytes: 1_000_000_000_000 } as TreeEntry;
    await failureOf(write([endless]), "POLICY_DENIED");
    expect(readdirSync(at("target"))).toEqual([]);
    await failureOf(write([file("a"), file("b"), file("c")], { maxBytes: 8 }), "POLICY_DENIED");
    const many = Array.from({ length: 50 }, (_, index) => ({ ...common, kind: "other" as const, path: `o${index}` }));
    await failureOf(write(many, { maxEntries: 49 }), "POLICY_DENIED");
    expect(readdirSync(at("target")).toSorted()).toEqual(["a", "b"]);
  });
});

it.runIf(process.platform === "linux")(
  "writes into the folder that it opened, wherever a neighbour moves it",
  async () => {
    const budget = new CopyBudget({});
    await using root = await HostFolder.open(at("target"), process.platform);
    await using writer = new TreeWriter(root, { budget, platform: process.platform });
    await writer.write(inner("a"), []);
    execFileSync("sh", ["-c", 'mv "$0/target/a" "$0/moved" && ln -s "$0/outside" "$0/target/a"', folder]);
    await writer.write(file("a/f", "x"), []);
    expect(readdirSync(at("outside"))).toEqual([]);
    expect(readdirSync(at("moved"))).toEqual(["f"]);
  },
);

it.runIf(process.platform === "linux").each([
  ["a folder that is there", "target/sub"],
  ["a folder that is written to", "target/sub/deep"],
])("leads nobody out while a program exchanges %s with a link", async (_, name) => {
  mkdirSync(at("target/sub/deep"), { recursive: true });
  mkdirSync(at("outside/deep"));
  symlinkSync(at("outside"), at("evil"));
  await whileSwapping(at(name), at("evil"), async () => {
    for (let turn = 0; turn < 150; turn += 1) {
      const tree = [
        inner("sub"),
        inner("sub/deep"),
        file("sub/deep/f"),
        second("sub/deep/g", "sub/deep/f"),
        file("sub/h"),
      ];
      await write(tree).catch(() => null);
    }
  });
  expect(readdirSync(at("outside"), { recursive: true })).toEqual(["deep"]);
});
