import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPlace } from "../../sandbox/mounts/open-place.ts";
import type { NewTreeEntry, TreeEntry } from "../../sandbox/files/file-way.ts";
import { CopiedFolders } from "./copied-folders.ts";

type Copy = Map<string, { kind: TreeEntry["kind"]; mode: number; text: string }>;

let folder = "";
const at = (name: string): string => path.join(folder, name);
const text = (name: string): string => readFileSync(at(name), "utf8");
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(at(".git/hooks"), { recursive: true });
  mkdirSync(at("deep/er"), { recursive: true });
  for (const name of [".git/config", ".git/hooks/commit", "a", "b", "deep/er/c"]) writeFileSync(at(name), name);
  for (const name of ["a", "b"]) utimesSync(at(name), 1_000, 1_000);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Copies the folder, lets the work change the copy, and brings it back. */
async function round(
  work: (copy: Copy) => void,
  { platform = "linux", readOnly = false }: { readonly platform?: NodeJS.Platform; readonly readOnly?: boolean } = {},
): Promise<readonly string[]> {
  const copy: Copy = new Map();
  await using place = (await openPlace(folder, process.platform))!;
  const locks = [
    { target: "/workspace/group/.git", readOnly: false },
    { target: "/workspace/group/.git/config", readOnly: true },
    { target: "/workspace/group/.git/hooks", readOnly: true },
  ];
  const files = {
    write: () => Promise.reject(new Error("unused")),
    writeTree: async (_: string, entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>) => {
      for await (const entry of entries) {
        let content = entry.kind === "file" || entry.kind === "folder" ? "" : entry.target;
        if (entry.kind === "file")
          for await (const chunk of entry.chunks) content += Buffer.from(chunk).toString("utf8");
        copy.set(entry.path, { kind: entry.kind, mode: entry.mode, text: content });
      }
    },
    readTree: async function* (): AsyncGenerator<TreeEntry, void, undefined> {
      for (const [name, { kind, mode, text: content }] of copy) {
        const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
          yield Buffer.from(content);
        };
        const facts = { path: name, mode, modifiedAtMs: 5_000, sizeBytes: content.length };
        yield { ...facts, kind, target: content, chunks: chunks() };
      }
    },
  };
  const mounts = [{ place, target: "/workspace/group", readOnly, shownAs: "groups/x" }];
  const options = { mounts, files, locks, maxBytes: 1_000, uid: null, signal: undefined };
  const copies = await CopiedFolders.send({ ...options, platform });
  work(copy);
  return await copies.bringBack();
}

const file = (content: string, mode = 0o644) => ({ kind: "file", mode, text: content }) as const;
const link = (target: string, kind: "link" | "hard-link" = "link") => ({ kind, mode: 0o777, text: target }) as const;

describe("copies of folders", () => {
  it("bring back what was made, changed and removed, and touch nothing else", async () => {
    const before = lstatSync(at("deep"));
    const warnings = await round((copy) => {
      copy.set("a", file("changed")).set("new", file("run", 0o4755)).set("again", link("b", "hard-link"));
      copy.set("deep/down", link("er/c"));
      copy.delete("deep/er/c");
      copy.delete("deep/er");
    });
    expect(warnings).toEqual([]);
    expect([text("a"), text("new"), text("again"), text("b")]).toEqual(["changed", "run", "b", "b"]);
    expect(lstatSync(at("new")).mode & 0o7777).toBe(0o755);
    expect(existsSync(at("deep/er"))).toBe(false);
    expect(lstatSync(at("deep")).ino).toBe(before.ino);
    const settled = lstatSync(at("a"));
    await round(() => undefined);
    expect(lstatSync(at("a"))).toMatchObject({ ino: settled.ino, mtimeMs: settled.mtimeMs });
  });

  it("leave alone what is locked, however it is named, moved or replaced", async () => {
    const warnings = await round((copy) => {
      for (const name of [".git/config", ".git/hooks/commit", ".git/hooks"]) copy.delete(name);
      copy.set(".git/config", file("evil")).set(".git/hooks/other", file("evil"));
      copy.set(".git/hooks", link("../deep")).set(".git", link("deep"));
    });
    expect([text(".git/config"), text(".git/hooks/commit")]).toEqual([".git/config", ".git/hooks/commit"]);
    expect(existsSync(at(".git/hooks/other"))).toBe(false);
    expect(lstatSync(at(".git")).isDirectory()).toBe(true);
    expect(warnings.join()).toMatch(/locked on this machine: .*"\.git\/config"/);
  });

  it("take names for one that a system without upper case takes for one", async () => {
    await round((copy) => void copy.set(".GIT/config", file("evil")), { platform: "darwin" });
    await round((copy) => void copy.set(".git/HOOKS/x", file("evil")), { platform: "darwin" });
    expect(existsSync(at(".GIT"))).toBe(false);
    expect(existsSync(at(".git/HOOKS"))).toBe(false);
  });

  it("leave what was changed or made here meanwhile", async () => {
    const warnings = await round((copy) => {
      copy.set("a", file("agent")).set("mine", file("agent")).delete("b");
      writeFileSync(at("a"), "owner");
      writeFileSync(at("b"), "owner");
      writeFileSync(at("mine"), "owner");
      writeFileSync(at("deep/er/c"), "owner");
    });
    expect(["a", "b", "mine", "deep/er/c"].map(text)).toEqual(["owner", "owner", "owner", "owner"]);
    expect(warnings.join()).toMatch(/changed on this machine while the agent worked: "b", "a", "mine"/);
  });

  it.each([
    ["leads up", "../evil"],
    ["leads up in the middle", "deep/../../evil"],
    ["is absolute", "/tmp/evil"],
  ])("refuse a name that %s, and say which folder is not as the agent left it", async (_, name) => {
    const bad = round((copy) => void copy.set(name, file("evil")));
    await expect(bad).rejects.toMatchObject({
      errorType: "SANDBOX_LOST",
      message: expect.stringMatching(/^groups\/x: Not all that the agent changed came back: .*refused/),
    });
    expect(existsSync(path.join(path.dirname(folder), "evil"))).toBe(false);
  });

  it("follow no link that lies here, and bring none that leads out", async () => {
    const warnings = await round((copy) => {
      copy
        .set("up", link("../x"))
        .set("root", link("/"))
        .set("deep/er/x", file("evil"))
        .set("pipe", {
          ...file(""),
          kind: "other",
        });
      rmSync(at("deep"), { recursive: true });
      mkdirSync(at("elsewhere/er"), { recursive: true });
      symlinkSync("elsewhere", at("deep"));
    }).catch((error: unknown) => [String(error)]);
    expect(existsSync(at("elsewhere/er/x"))).toBe(false);
    for (const name of ["up", "root", "pipe"]) expect(() => lstatSync(at(name))).toThrow("ENOENT");
    expect(warnings.length).toBeGreaterThan(0);
  });

  it("take no more than fits on each way, and nothing back of what was read-only", async () => {
    await round((copy) => void copy.set("a", file("changed")), { readOnly: true });
    expect(text("a")).toBe("a");
    const flood = round((copy) => void copy.set("flood", file("x".repeat(3_000))));
    await expect(flood).rejects.toMatchObject({ message: expect.stringMatching(/more to copy than/) });
    expect(existsSync(at("flood"))).toBe(false);
    writeFileSync(at("large"), "x".repeat(1_001));
    await expect(round(() => undefined)).rejects.toMatchObject({ errorType: "POLICY_DENIED" });
  });
});
