import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxContextBytes } from "../../policy/request/context-files.ts";
import { blockedPatterns } from "../../policy/mounts/blocked-pattern.ts";
import type { MountGate } from "../../sandbox/mounts/mount-gate.ts";
import { readContextFile } from "./context-file-reader.ts";

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
  writeFileSync(at("work", "big"), "");
  truncateSync(at("work", "big"), maxContextBytes + 1);
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
    },
    platform: process.platform,
    workingDirectory: at("work"),
  };
}

const read = (given: string): ReturnType<typeof readContextFile> => readContextFile(given, gate(), "context_files[0]");

describe("readContextFile", () => {
  it.each([
    ["data/a.csv", "data/a.csv", "a\n"],
    ["./data/../data/a.csv", "data/a.csv", "a\n"],
    ["alias.csv", "alias.csv", "a\n"],
    ["elsewhere.csv", "elsewhere.csv", "t\n"],
    ["../shared/tables/t.csv", "tables/t.csv", "t\n"],
  ])("%s stands at %s", async (given, name, content) => {
    for (const path of [given, at("work", given)]) {
      const file = await read(path);
      expect(file.path).toBe(name);
      expect(Buffer.from(file.content).toString()).toBe(content);
    }
  });

  it.each([
    ["nowhere", "INVALID_REQUEST", "expected a file that exists"],
    ["data", "INVALID_REQUEST", "name the files of a folder one by one"],
    ["big", "INVALID_REQUEST", "at most 16 MiB"],
    ["../x", "INVALID_REQUEST", "outside the folders that may be used"],
    ["/etc/passwd", "INVALID_REQUEST", "outside-roots"],
    [".env", "POLICY_DENIED", "blocked-pattern"],
    ["data/.ssh/config", "POLICY_DENIED", '".ssh"'],
  ])("%s is %s", async (given, errorType, words) => {
    await expect(read(given)).rejects.toMatchObject({ errorType, context: { field: "context_files[0]" } });
    await expect(read(given)).rejects.toThrow(words);
    await expect(read(given)).rejects.not.toThrow(folder);
  });
});
