import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readMemoryFiles } from "./read-memory-files.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-notes-")));
  mkdirSync(at("group", "memory", "deep"), { recursive: true });
  mkdirSync(at("group", "code"));
  for (const name of ["group/A.md", "group/memory/deep/b.md", "group/code/c.md", "group/d.txt", "secret.md"]) {
    writeFileSync(at(name), name);
  }
  symlinkSync(at("secret.md"), at("group", "link.md"));
  symlinkSync(folder, at("group", "memory", "folder"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The way of Linux and, on the same files, that of systems whose open folders have no path of their own. */
const ways = (["linux", "darwin"] as const).filter((way) => way !== "linux" || process.platform === "linux");

describe.each(ways)("the notes of a group as on %s", (way) => {
  const read = (inode?: string): readonly string[] => {
    const { dev, ino } = statSync(at("group"), { bigint: true });
    const source = { name: "group", folder: at("group"), device: String(dev), inode: inode ?? String(ino) };
    return [...readMemoryFiles([source], way)].map(({ path: name }) => name);
  };

  it("are its own and those below memory, through no link", () => {
    expect(read()).toEqual(["group/A.md", "group/memory/deep/b.md"]);
  });

  it("are none of a folder that took its place", () => {
    expect(() => read("1")).toThrow("The folder was replaced.");
  });
});
