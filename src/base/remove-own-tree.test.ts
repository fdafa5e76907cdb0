import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeOwnTree } from "./remove-own-tree.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "glovebox-remove-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const platform = process.platform;
/** That of Linux and, on the same files, that of systems whose folders cannot be held open. */
const ways = (["linux", "darwin", "win32"] as const).filter((way) => way !== "linux" || platform === "linux");
const owner = { uid: process.getuid?.() ?? null, platform };
const at = (...names: readonly string[]): string => path.join(folder, ...names);

describe("removeOwnTree", () => {
  it.each(ways)("removes files, folders and links as on %s, and leaves what links lead to", async (way) => {
    mkdirSync(at("tree/a/b"), { recursive: true });
    writeFileSync(at("tree/a/b/file"), "x");
    writeFileSync(at("kept"), "kept");
    symlinkSync(folder, at("tree/a/up"));
    symlinkSync(at("kept"), at("tree/a/b/file-link"));
    await removeOwnTree(at("tree"), { ...owner, platform: way });
    expect(existsSync(at("tree"))).toBe(false);
    expect(readFileSync(at("kept"), "utf8")).toBe("kept");
    await removeOwnTree(at("tree"), { ...owner, platform: way });
  });

  it.each(ways)("refuses a link and what is another user's as on %s", async (way) => {
    mkdirSync(at("tree"));
    writeFileSync(at("tree/kept"), "");
    symlinkSync(at("tree"), at("link"));
    expect(await removeOwnTree(at("link"), { ...owner, platform: way }).catch(String)).toContain("is not ours");
    const foreign = { uid: (owner.uid ?? 0) + 1, platform: way };
    expect(await removeOwnTree(at("tree"), foreign).catch(String)).toContain("is not ours");
    expect(existsSync(at("tree/kept"))).toBe(true);
  });

  it("removes folders closed to us, deep ones, and names that are no text", { timeout: 60_000 }, async () => {
    mkdirSync(at("tree/closed/inner"), { recursive: true });
    writeFileSync(at("tree/closed/inner/file"), "");
    chmodSync(at("tree/closed/inner"), 0);
    chmodSync(at("tree/closed"), 0);
    const deep =
      "import os, sys\nos.chdir(sys.argv[1])\nfor n in range(400):\n  os.mkdir('deep' * 5); os.chdir('deep' * 5)";
    execFileSync("python3", ["-c", deep, at("tree")]);
    const raw =
      "import os, sys\nos.mkdir(os.fsencode(sys.argv[1]) + b'/\\xff\\xfe'); open(os.fsencode(sys.argv[1]) + b'/\\xff\\xfe/\\xfd', 'w')";
    execFileSync("python3", ["-c", raw, at("tree")]);
    await removeOwnTree(at("tree"), owner);
    expect(existsSync(at("tree"))).toBe(false);
  });

  it.skipIf(platform !== "linux")(
    "never goes through a folder that is exchanged with a link meanwhile",
    { timeout: 60_000 },
    async () => {
      const swaps = `
import ctypes, os, sys
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None)
print("ready", flush=True)
while True:
    for n in range(20): libc.renameat2(-100, b"swap/folder%d" % n, -100, b"swap/link%d" % n, 2)
`;
      mkdirSync(at("precious"));
      for (let round = 0; round < 4; round++) {
        for (let n = 0; n < 5; n++) writeFileSync(at(`precious/${n}`), "");
        for (let n = 0; n < 20; n++) {
          mkdirSync(at(`swap/folder${n}`), { recursive: true });
          symlinkSync(at("precious"), at(`swap/link${n}`));
        }
        const swapper = spawn("python3", ["-c", swaps, folder], { stdio: ["ignore", "pipe", "inherit"] });
        await new Promise((resolve) => void swapper.stdout.once("data", resolve));
        await removeOwnTree(at("swap"), owner).catch(() => undefined);
        swapper.kill("SIGKILL");
        await new Promise((resolve) => void swapper.once("exit", resolve));
        await removeOwnTree(at("swap"), owner);
        for (let n = 0; n < 5; n++) expect(existsSync(at(`precious/${n}`))).toBe(true);
      }
    },
  );
});
