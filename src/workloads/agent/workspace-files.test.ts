import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readWorkspaceFiles } from "./workspace-files.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "glovebox-workspace-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): void => writeFileSync(path.join(folder, name), text);

it("reads the files that tell of a group, in their order", async () => {
  write("MEMORY.md", "Tea.");
  write("SOUL.md", "Kind.");
  write("notes.md", "not read");
  expect(await readWorkspaceFiles(["/nonexistent", folder])).toEqual([
    { path: `${folder}/SOUL.md`, text: "Kind.", isCut: false },
    { path: `${folder}/MEMORY.md`, text: "Tea.", isCut: false },
  ]);
});

it("reads so much of each and of all together, and says that there is more", async () => {
  for (const name of ["SOUL", "IDENTITY", "USER", "TOOLS", "MEMORY"]) write(`${name}.md`, "x".repeat(20_000));
  const files = await readWorkspaceFiles([folder]);
  expect(files.map(({ text, isCut }) => [text.length, isCut])).toEqual(Array.from({ length: 3 }, () => [16_384, true]));
});

it("follows no link and waits for nobody", async () => {
  write("secret", "not the group's");
  symlinkSync(path.join(folder, "secret"), path.join(folder, "SOUL.md"));
  symlinkSync("/proc/self/environ", path.join(folder, "USER.md"));
  execFileSync("mkfifo", [path.join(folder, "MEMORY.md")]);
  mkdirSync(path.join(folder, "TODOS.md"));
  expect(await readWorkspaceFiles([folder])).toEqual([]);
});
