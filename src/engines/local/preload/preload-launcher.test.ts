import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiskWatch, folderSize } from "./preload-launcher.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "glovebox-usage-"));
  mkdirSync(at("work/sub"), { recursive: true });
  mkdirSync(at("other"));
});
afterEach(() => {
  chmodSync(at("work"), 0o755);
  rmSync(folder, { recursive: true });
});

const kilobytes = (count: number): Buffer => Buffer.alloc(count * 1024, 1);
const isRoot = process.getuid?.() === 0;
const ways = (["linux", "darwin"] as const).filter((way) => way !== "linux" || process.platform === "linux");

describe.runIf(process.platform !== "win32").each(ways)("the size of a program's folders as on %s", (way) => {
  it("is what their files take on disk, and of nothing beside them", async () => {
    writeFileSync(at("work/a"), kilobytes(64));
    writeFileSync(at("work/sub/b"), kilobytes(32));
    writeFileSync(at("other/c"), kilobytes(512));
    writeFileSync(at("work/sparse"), "");
    truncateSync(at("work/sparse"), 1024 ** 3);
    expect(await folderSize([at("work")], way)).toBe(96 * 1024);
    expect(await folderSize([at("work"), at("other"), at("none")], way)).toBe(608 * 1024);
  });

  it("counts nothing that a link leads to", async () => {
    writeFileSync(at("other/c"), kilobytes(512));
    symlinkSync(at("other"), at("work/link"));
    symlinkSync(at("other/c"), at("work/file"));
    expect(await folderSize([at("work")], way)).toBeLessThan(64 * 1024);
  });

  it("counts what is in folders that the program has closed to itself, the first of all too", async () => {
    writeFileSync(at("work/sub/b"), kilobytes(64));
    const program = isRoot ? 65_534 : (process.getuid?.() ?? 0);
    for (const place of [folder, at("work"), at("work/sub")]) chownSync(place, program, program);
    chmodSync(at("work/sub"), 0);
    chmodSync(at("work"), 0);
    if (isRoot) process.seteuid?.(program);
    try {
      expect(await folderSize([at("work")], way)).toBe(64 * 1024);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(lstatSync(at("work")).mode & 0o777).toBe(0o500);
  });

  it.runIf(isRoot && way === "darwin")("is an error where one of them cannot be looked into", async () => {
    chmodSync(at("work/sub"), 0o700);
    chmodSync(folder, 0o755);
    process.seteuid?.(65_534);
    try {
      await expect(folderSize([at("work")], way)).rejects.toMatchObject({ code: "EACCES" });
    } finally {
      process.seteuid?.(0);
    }
  });

  it("is endless for folders too deep to measure", async () => {
    mkdirSync(at("work", ...Array.from({ length: 520 }, () => "d")), { recursive: true });
    expect(await folderSize([at("work")], way)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe.runIf(process.platform === "linux" && isRoot)("programs whose files cannot be measured", () => {
  /** Why they were ended, after some looks at folders that are `open` to whoever measures them, or not. */
  async function endedFor(open: boolean): Promise<readonly string[]> {
    const reasons: string[] = [];
    const runs = new Set([{ endFor: async (reason: string) => void reasons.push(reason) }]);
    chmodSync(folder, open ? 0o755 : 0o711);
    process.seteuid?.(65_534);
    try {
      new DiskWatch({ folders: [at("work")], platform: "linux", limitBytes: 1024, runs }).start();
      await sleep(4_500);
    } finally {
      runs.clear();
      process.seteuid?.(0);
    }
    return reasons;
  }

  it("are ended, and others are not", async () => {
    expect(await endedFor(true)).toEqual([]);
    expect(await endedFor(false)).toContain("the program was killed because its files cannot be measured");
  }, 20_000);
});
