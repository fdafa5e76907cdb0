import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accessTokenFile, openAccessToken } from "./server-access.ts";

let homeDirectory = "";
const host = () => ({ environment: {}, homeDirectory, uid: process.getuid?.() ?? null });
const file = (): string => accessTokenFile(host());

beforeEach(() => {
  homeDirectory = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
});
afterEach(() => rmSync(homeDirectory, { recursive: true }));

describe("the access token", () => {
  it("is made once, for this user only, and stays the same", async () => {
    const token = await openAccessToken(host());
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(readFileSync(file(), "utf8")).toBe(`${token}\n`);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file())).mode & 0o777).toBe(0o700);
    expect(await openAccessToken(host())).toBe(token);
    expect(readdirSync(path.dirname(file()))).toEqual(["token"]);
  });

  it("is closed to others under any umask", async () => {
    const before = process.umask(0);
    try {
      await openAccessToken(host());
    } finally {
      process.umask(before);
    }
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it("is one, however many make it at once", async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => openAccessToken(host())));
    expect(new Set(tokens).size).toBe(1);
    expect(readdirSync(path.dirname(file()))).toEqual(["token"]);
  });

  const text = `${"a".repeat(43)}\n`;
  it.each<[string, () => void, string]>([
    ["that others may read", () => writeFileSync(file(), text, { mode: 0o640 }), "other users may read or write it"],
    ["that is a link", () => symlinkSync(elsewhere(), file()), "cannot be read"],
    ["that is a pipe", () => void execFileSync("mkfifo", ["-m", "600", file()]), "not a file"],
    ["that is a folder", () => mkdirSync(file(), { mode: 0o700 }), "not a file"],
    ["that is empty", () => writeFileSync(file(), "", { mode: 0o600 }), "holds no token"],
    ["with a short token", () => writeFileSync(file(), "secret\n", { mode: 0o600 }), "holds no token"],
    ["with more than a token", () => writeFileSync(file(), text + text, { mode: 0o600 }), "holds no token"],
  ])("is not taken from a file %s", async (_, plant, reason) => {
    mkdirSync(path.dirname(file()), { recursive: true });
    plant();
    await expect(openAccessToken(host())).rejects.toMatchObject({
      errorType: "PERMISSION_DENIED",
      message: expect.stringContaining(reason),
      suggestion: expect.stringContaining("Remove it"),
    });
  });

  it("is not taken from a file of another user", async () => {
    await openAccessToken(host());
    const other = { ...host(), uid: (process.getuid?.() ?? 0) + 1 };
    await expect(openAccessToken(other)).rejects.toMatchObject({
      message: expect.stringContaining("belongs to another user"),
    });
  });

  /** A file that would do, were it not behind a link. */
  function elsewhere(): string {
    const target = path.join(homeDirectory, "elsewhere");
    writeFileSync(target, text, { mode: 0o600 });
    return target;
  }
});
