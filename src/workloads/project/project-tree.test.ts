import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { readHostTree } from "../../sandbox/copy/read-host-tree.ts";
import { ignoringFilter } from "./copy-project.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
const outside = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
const put = (name: string, text = ""): void => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
};

const silent = { onLeftOut: () => undefined, onUnknown: () => undefined };

beforeAll(() => {
  put(".gitignore", "dist/\n*.log\n!keep.log\n/only-here\n");
  put("sub/.gitignore", "!*.log\nprivate\n");
  for (const name of [
    ...[
      "a.js",
      "a.log",
      "keep.log",
      "dist/out.js",
      "only-here",
      "sub/only-here",
      "sub/b.log",
      "sub/private/c",
      "sub/dist/d",
    ],
    ...["node_modules/x/i.js", "sub/node_modules/y.js", ".git/config", "__pycache__/a.pyc", "build/kept.js", ".env"],
  ])
    put(name);
  writeFileSync(path.join(outside, "secret"), "secret");
  symlinkSync(outside, path.join(folder, "link"));
  mkdirSync(path.join(folder, "linked"));
  symlinkSync(path.join(folder, "sub/.gitignore"), path.join(folder, "linked/.gitignore"));
  put("linked/private");
});
afterAll(() => {
  for (const each of [folder, outside]) rmSync(each, { recursive: true });
});

async function filesOf(filter?: ReturnType<typeof ignoringFilter>): Promise<readonly string[]> {
  await using opened = await HostFolder.open(folder, process.platform);
  const names: string[] = [];
  for await (const entry of readHostTree(opened, new CopyBudget({}), { filter })) {
    if (entry.kind !== "folder") names.push(entry.path);
    if (entry.kind === "file") for await (const _ of entry.chunks);
  }
  return names;
}

it("leaves out what tools make anew and what .gitignore names; the deeper rule wins, and links are links", async () => {
  expect(await filesOf(ignoringFilter(silent))).toEqual([
    ...[".env", ".gitignore", "a.js", "build/kept.js", "keep.log", "link", "linked/.gitignore", "linked/private"],
    ...["sub/.gitignore", "sub/b.log", "sub/only-here"],
  ]);
});

it("copies everything where that is asked for", async () => {
  const all = await filesOf();
  for (const name of ["node_modules/x/i.js", ".git/config", "dist/out.js", "sub/private/c"])
    expect(all).toContain(name);
  expect(all.some((name) => name.endsWith("secret"))).toBe(false);
});

it("refuses a .gitignore that nobody can read in time", async () => {
  put("hostile/.gitignore", "*a*b\n".repeat(5_000));
  const failed = filesOf(ignoringFilter(silent));
  await expect(failed).rejects.toMatchObject({
    errorType: "INVALID_REQUEST",
    message: /16 KiB of rules with wildcards/,
  });
  put("hostile/.gitignore", "x".repeat(1_100_000));
  await expect(filesOf(ignoringFilter(silent))).rejects.toMatchObject({
    errorType: "INVALID_REQUEST",
    message: /1 MiB/,
  });
  rmSync(path.join(folder, "hostile"), { recursive: true });
});
