import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxContextBytes } from "../../policy/request/context-files.ts";
import { blockedPatterns } from "../../policy/mounts/blocked-pattern.ts";
import type { MountGate } from "../../sandbox/mounts/mount-gate.ts";
import { openContextFile } from "./context-file-reader.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);

beforeAll(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(at("work", "data", ".ssh"), { recursive: true });
  mkdirSync(at("shared", "tables"), { recursive: true });
  writeFileSync(at("work", "data", "a.csv"), "a\n");
  writeFileSync(at("work", "data", ".ssh", "config"), "Host x\n");
  writeFileSync(at("work", ".env"), "KEY=1\n");
  writeFileSync(at("shared", "tables", "t.csv"), "t\n");
  writeFileSync(at("work", "big.py"), "");
  truncateSync(at("work", "big.py"), maxContextBytes + 1);
  symlinkSync("data/a.csv", at("work", "alias.csv"));
  symlinkSync("../shared/tables/t.csv", at("work", "elsewhere.csv"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function gate(): MountGate {
  const root = { listedAs: "a root", allowReadWrite: false, description: null };
  return {
    policy: {
      roots: [
        { ...root, path: at("work"), source: "working_directory" },
        { ...root, path: at("shared"), source: "allowlist" },
      ],
      blockedPatterns: blockedPatterns([]),
      protectedPlaces: [],
      nonMainReadOnly: true,
      hasAllowlist: true,
      projectsSetting: "GLOVEBOX_PROJECT_ROOTS",
    },
    platform: process.platform,
    workingDirectory: at("work"),
  };
}

const field = "context_files[0]";
async function read(given: string, inMemory = false): Promise<{ path: string; text: string; isInMemory: boolean }> {
  await using file = await openContextFile(given, gate(), { field, inMemory });
  const { path, content } = file;
  const bytes = "read" in content ? await buffer(content.read()) : Buffer.from(content);
  return { path, text: bytes.toString(), isInMemory: !("read" in content) };
}

describe("openContextFile", () => {
  it.each([
    ["data/a.csv", "data/a.csv", "a\n"],
    ["./data/../data/a.csv", "data/a.csv", "a\n"],
    ["alias.csv", "alias.csv", "a\n"],
    ["elsewhere.csv", "elsewhere.csv", "t\n"],
    ["../shared/tables/t.csv", "tables/t.csv", "t\n"],
  ])("%s stands at %s", async (given, name, content) => {
    for (const path of [given, at("work", given)]) {
      const file = await read(path);
      expect(file).toEqual({ path: name, text: content, isInMemory: false });
      expect(await read(path, true)).toEqual({ path: name, text: content, isInMemory: true });
    }
  });

  it.each([
    ["nowhere", "INVALID_REQUEST", "expected a file that exists"],
    ["data", "INVALID_REQUEST", "name the files of a folder one by one"],
    ["big.py", "INVALID_REQUEST", "at most 16 MiB"],
    ["../x", "INVALID_REQUEST", "outside the folders that may be used"],
    ["/etc/passwd", "INVALID_REQUEST", "outside-roots"],
    [".env", "POLICY_DENIED", "blocked-pattern"],
    ["data/.ssh/config", "POLICY_DENIED", '".ssh"'],
  ])("%s is %s", async (given, errorType, words) => {
    await expect(read(given)).rejects.toMatchObject({ errorType, context: { field } });
    await expect(read(given)).rejects.toThrow(words);
    await expect(read(given)).rejects.not.toThrow(folder);
  });

  it.each(["a.py", "b.PYW", "c.tsx", "d.mjs"])("%s is in memory: code is looked into", async (name) => {
    writeFileSync(at("work", name), "1");
    expect(await read(name)).toEqual({ path: name, text: "1", isInMemory: true });
  });

  it("data is as large as it was when it was opened, also empty, and not what has become shorter", async () => {
    const open = async (size: number, sizeThen: number): Promise<number> => {
      truncateSync(at("work", "data", "a.csv"), size);
      await using file = await openContextFile("data/a.csv", gate(), { field });
      truncateSync(at("work", "data", "a.csv"), sizeThen);
      if (!("read" in file.content)) throw new Error("It is in memory.");
      expect(file.content.sizeBytes).toBe(size);
      return (await buffer(file.content.read())).length;
    };
    const large = maxContextBytes + 3;
    expect(await open(large, large)).toBe(large);
    expect(await open(1_000_001, 2_000_000)).toBe(1_000_001);
    expect(await open(0, 5)).toBe(0);
    await expect(open(1_000_001, 1_000_000)).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      message: "A file became shorter while it was sent: 1 of 1000001 bytes are gone.",
    });
  });
});
