import { linkSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { walkTree, type TreeWalk } from "./walk-tree.ts";

let root = "";
beforeEach(() => (root = mkdtempSync(path.join(tmpdir(), "glovebox-walk-"))));
afterEach(() => rmSync(root, { recursive: true }));

/** The way of Linux and, on the same files, that of systems whose folders have no path of their own while they are open. */
const ways = (["linux", "darwin", "win32"] as const).filter((way) => way !== "linux" || process.platform === "linux");

function walk(platform: NodeJS.Platform, changes: Partial<TreeWalk> = {}): ReturnType<typeof walkTree> {
  const { dev, ino } = statSync(root, { bigint: true });
  const bounds = { since: 0, maxFiles: 100, maxDepth: 10 };
  return walkTree({ root, device: String(dev), inode: String(ino), platform, ...bounds, ...changes });
}

describe.each(ways)("walkTree as on %s", (way) => {
  it("counts files once and follows no link", () => {
    mkdirSync(path.join(root, "a", "b"), { recursive: true });
    writeFileSync(path.join(root, "a", "b", "file"), Buffer.alloc(65_536, 1));
    linkSync(path.join(root, "a", "b", "file"), path.join(root, "second name"));
    symlinkSync(tmpdir(), path.join(root, "a", "link"));
    expect(walk(way)).toMatchObject({ files: 4, isWhole: true });
  });

  it("says when it has not seen everything, and nothing of a folder that took the root's place", () => {
    mkdirSync(path.join(root, "a", "b"), { recursive: true });
    expect(walk(way, { maxDepth: 1 })).toMatchObject({ files: 1, isWhole: false });
    expect(walk(way, { inode: "1" })).toBeNull();
  });
});
