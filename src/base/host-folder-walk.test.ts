import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { whileSwapping } from "../../test/helpers/swapping.ts";
import { HostFolder, type WalkedEntry, type WalkOptions } from "./host-folder.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), "glovebox-walk-"));
  mkdirSync(at("root/sub/deep"), { recursive: true });
  mkdirSync(at("outside/below"), { recursive: true });
  writeFileSync(at("outside/secret"), "secret");
  writeFileSync(at("root/sub/deep/file"), "mine");
});
afterEach(() => rmSync(folder, { recursive: true }));

const isLinux = process.platform === "linux";
const isRoot = process.getuid?.() === 0;
/** The way of Linux and, on the same files, that of systems whose folders cannot be held open. */
const ways = (["linux", "darwin", "win32"] as const).filter((way) => way !== "linux" || isLinux);

async function walked(
  way: NodeJS.Platform,
  options: Partial<WalkOptions> = {},
  onEntry: (entry: WalkedEntry) => void = () => undefined,
): Promise<string[]> {
  await using root = await HostFolder.open(at("root"), way);
  const paths: string[] = [];
  for await (const entry of root.walk({ maxDepth: 100, isSorted: true, ...options })) {
    paths.push(entry.path);
    onEntry(entry);
  }
  return paths;
}

/** Descriptors that this process has open. */
const descriptors = (): number => readdirSync("/proc/self/fd").length;

describe.each(ways)("a walk as on %s", (way) => {
  it("tells of everything below, a folder before what is in it, with its level and what it is", async () => {
    writeFileSync(at("root/a"), "12");
    const facts: unknown[] = [];
    const paths = await walked(way, {}, ({ name, level, stat, isUtf8 }) =>
      facts.push([name, level, stat.isDirectory(), isUtf8]),
    );
    expect(paths).toEqual(["a", "sub", "sub/deep", "sub/deep/file"]);
    expect(facts).toEqual([
      ["a", 1, false, true],
      ["sub", 1, true, true],
      ["deep", 2, true, true],
      ["file", 3, false, true],
    ]);
    expect((await walked(way, { isSorted: false })).toSorted()).toEqual(paths);
  });

  it("passes by what it is told to, and leaves nothing open when it is given up", async () => {
    expect(await walked(way, {}, (entry) => entry.passBy())).toEqual(["sub"]);
    const before = isLinux ? descriptors() : 0;
    await using root = await HostFolder.open(at("root"), way);
    for await (const { path: found } of root.walk({ maxDepth: 100 })) if (found === "sub/deep") break;
    await root[Symbol.asyncDispose]();
    expect(isLinux ? descriptors() : 0).toBe(before);
  });

  it("follows no link, not even one that leads round in a circle", async () => {
    symlinkSync(at("outside"), at("root/link"));
    symlinkSync("..", at("root/sub/up"));
    symlinkSync("loop", at("root/loop"));
    expect(await walked(way)).toEqual(["link", "loop", "sub", "sub/deep", "sub/deep/file", "sub/up"]);
  });

  it.runIf(process.platform !== "win32")("tells of FIFOs and devices without opening them", async () => {
    execFileSync("mkfifo", [at("root/fifo")]);
    if (isRoot) execFileSync("mknod", [at("root/null"), "c", "1", "3"]);
    const kinds: boolean[] = [];
    const paths = await walked(way, {}, ({ stat }) => kinds.push(stat.isFile() || stat.isDirectory()));
    expect(paths).toEqual(["fifo", ...(isRoot ? ["null"] : []), "sub", "sub/deep", "sub/deep/file"]);
    expect(kinds.slice(0, isRoot ? 2 : 1)).not.toContain(true);
  });

  it.runIf(isLinux)("goes through names that are no UTF-8 like through any other", async () => {
    const odd = Buffer.from([0x61, 0xff, 0xfe]);
    const place = Buffer.concat([Buffer.from(`${at("root")}/`), odd]);
    mkdirSync(place);
    writeFileSync(Buffer.concat([place, Buffer.from("/in")]), "12345");
    const seen: unknown[] = [];
    await walked(way, {}, ({ path: found, isUtf8, stat, place: there }) => {
      if (found.startsWith("a")) seen.push([found, isUtf8, stat.isFile() ? readFileSync(there, "utf8") : "folder"]);
    });
    expect(seen).toEqual([
      ["a\ufffd\ufffd", false, "folder"],
      ["a\ufffd\ufffd/in", true, "12345"],
    ]);
  });

  it("enters folders to a depth, and tells of the first that is deeper", async () => {
    const deeper: string[] = [];
    const onTooDeep = (found: string): void => void deeper.push(found);
    expect(await walked(way, { maxDepth: 1, onTooDeep })).toEqual(["sub", "sub/deep"]);
    expect(deeper).toEqual(["sub/deep"]);
    expect(await walked(way, { maxDepth: 0 })).toEqual(["sub"]);
  });

  it("ends with its budget, which is asked before each name is looked at", async () => {
    for (let file = 0; file < 20; file += 1) writeFileSync(at("root", `f${file}`), "");
    let left = 5;
    expect(await walked(way, { take: () => (left -= 1) >= 0 })).toHaveLength(5);
    const tooMuch = new Error("too much");
    const failure = walked(way, {
      take: (level) => {
        if (level > 2) throw tooMuch;
        return true;
      },
    });
    await expect(failure).rejects.toBe(tooMuch);
  });

  it.runIf(isLinux && isRoot)("leaves out other file systems where it is told to", async () => {
    mkdirSync(at("root/mounted"));
    execFileSync("mount", ["-t", "tmpfs", "none", at("root/mounted")]);
    try {
      writeFileSync(at("root/mounted/elsewhere"), "");
      expect(await walked(way, { staysOnDevice: true })).toEqual(["sub", "sub/deep", "sub/deep/file"]);
      expect(await walked(way)).toContain("mounted/elsewhere");
    } finally {
      execFileSync("umount", [at("root/mounted")]);
    }
  });

  it.runIf(isLinux)("opens folders again that a program has closed to its own user, and no other's", async () => {
    const program = isRoot ? 65_534 : (process.getuid?.() ?? 0);
    const unprivileged = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isRoot) process.seteuid?.(program);
      try {
        return await work();
      } finally {
        if (isRoot) process.seteuid?.(0);
      }
    };
    for (const place of [folder, at("root"), at("root/sub"), at("root/sub/deep")]) chownSync(place, program, program);
    chmodSync(folder, 0o755);
    chmodSync(at("root/sub"), 0o1001);
    if (isRoot) {
      mkdirSync(at("root/theirs"));
      chmodSync(at("root/theirs"), 0o700);
    }
    const theirs = isRoot ? ["theirs"] : [];
    await unprivileged(async () => {
      const trouble: string[] = [];
      await walked(way, { onTrouble: (found) => void trouble.push(found) });
      expect(trouble).toEqual(["sub", ...theirs]);
      await expect(walked(way)).rejects.toMatchObject({ code: "EACCES" });
      const still: string[] = [];
      const onTrouble = (found: string): void => void still.push(found);
      expect(await walked(way, { reopensOf: program, onTrouble })).toEqual([
        ...["sub", "sub/deep", "sub/deep/file"],
        ...theirs,
      ]);
      // On other systems the folder of another is trouble, too.
      expect(still).toEqual(way === "linux" ? [] : theirs);
    });
    expect(lstatSync(at("root/sub")).mode & 0o7777).toBe(0o1501);
  });

  it("goes on where entries vanish and folders become files meanwhile, and tells who asks", async () => {
    mkdirSync(at("root/b"));
    const vanish = (entry: WalkedEntry): void => {
      if (entry.path === "b") rmSync(at("root/sub"), { recursive: true });
      if (entry.path !== "b") return;
      rmSync(at("root/b"), { recursive: true });
      writeFileSync(at("root/b"), "");
    };
    const trouble: unknown[] = [];
    const onTrouble = (found: string, error: unknown): void =>
      void trouble.push([found, (error as NodeJS.ErrnoException).code]);
    expect(await walked(way, { onTrouble }, vanish)).toEqual(["b"]);
    expect(trouble).toEqual([
      ["b", "ENOTDIR"],
      ["sub", "ENOENT"],
    ]);
    rmSync(at("root/b"));
    mkdirSync(at("root/sub"));
    mkdirSync(at("root/b"));
    expect(await walked(way, {}, vanish)).toEqual(["b"]);
  });
});

describe.runIf(isLinux)("a program that attacks a walk", () => {
  it("leads it nowhere by a link in place of a folder that was just told of", async () => {
    const exchange = ({ path: found }: WalkedEntry): void => {
      if (found !== "sub") return;
      renameSync(at("root/sub"), at("root/was"));
      symlinkSync(at("outside"), at("root/sub"));
    };
    const paths = await walked("linux", {}, exchange);
    expect(paths.filter((found) => /secret|below/.test(found))).toEqual([]);
  });

  it("leads it nowhere by an exchange of a folder that it is in", async () => {
    const seen: string[] = [];
    await walked("linux", {}, ({ path: found, place }) => {
      if (found === "sub/deep") {
        renameSync(at("root/sub"), at("root/was"));
        symlinkSync(at("outside"), at("root/sub"));
        mkdirSync(at("outside/deep"));
        writeFileSync(at("outside/deep/file"), "secret");
      }
      if (found === "sub/deep/file") seen.push(readFileSync(place, "utf8"));
    });
    expect(seen).toEqual(["mine"]);
  });

  it("does not lead it up by moving the folder that it is in out of the root", async () => {
    const paths = await walked("linux", {}, ({ path: found }) => {
      if (found === "sub/deep") renameSync(at("root/sub"), at("outside/moved"));
    });
    expect(paths).toEqual(["sub", "sub/deep", "sub/deep/file"]);
    expect(existsSync(at("outside/moved/deep/file"))).toBe(true);
  });

  it("does not hold it up by a FIFO in place of a folder that was just told of", async () => {
    const trouble: unknown[] = [];
    const walk = walked(
      "linux",
      { onTrouble: (_, error) => void trouble.push((error as NodeJS.ErrnoException).code) },
      ({ path: found }) => {
        if (found !== "sub") return;
        renameSync(at("root/sub"), at("root/was"));
        execFileSync("mkfifo", [at("root/sub")]);
      },
    );
    const ended = await Promise.race([walk, setTimeout(3_000, "held up")]);
    // A reader that waits is let go, so that the test ends.
    if (ended === "held up") execFileSync("sh", ["-c", ': >"$1"', "sh", at("root/sub")]);
    expect(ended).toEqual(["sub"]);
    expect(trouble).toEqual(["ENOTDIR"]);
  });

  it("does not keep it going by files that it adds without end", async () => {
    let made = 0;
    let left = 500;
    const paths = await walked("linux", { isSorted: false, take: () => (left -= 1) >= 0 }, () => {
      for (let more = 0; more < 10; more += 1) writeFileSync(at("root/sub/deep", `more${(made += 1)}`), "");
    });
    expect(paths.length).toBeLessThanOrEqual(500);
  });

  it("has no permission of another place changed by exchanging the folder that it has closed", async () => {
    const program = isRoot ? 65_534 : (process.getuid?.() ?? 0);
    for (const place of [folder, at("root"), at("root/sub"), at("outside")]) chownSync(place, program, program);
    for (const place of [folder, at("root")]) chmodSync(place, 0o755);
    chmodSync(at("outside"), 0o200);
    symlinkSync(at("outside"), at("root/evil"));
    const closed = openSync(at("root/sub"), "r");
    let opened = 0;
    await whileSwapping(at("root/sub"), at("root/evil"), async () => {
      if (isRoot) process.seteuid?.(program);
      try {
        for (let turn = 0; turn < 300; turn += 1) {
          fchmodSync(closed, 0);
          await walked("linux", { reopensOf: program, onTrouble: () => undefined });
          if ((fstatSync(closed).mode & 0o777) !== 0) opened += 1;
        }
      } finally {
        if (isRoot) process.seteuid?.(0);
      }
    });
    closeSync(closed);
    expect(opened).toBeGreaterThan(0);
    expect(lstatSync(at("outside")).mode & 0o777).toBe(0o200);
    for (const place of ["root/sub", "root/evil", "outside"]) {
      if (!lstatSync(at(place)).isSymbolicLink()) chmodSync(at(place), 0o755);
    }
  });
});
