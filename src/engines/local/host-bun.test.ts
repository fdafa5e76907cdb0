import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bunVersion } from "../../base/bun-packages.ts";
import { tarOf } from "../../base/tar.ts";
import { findBunBinary, HostBun, type HostBunOptions } from "./host-bun.ts";

const uid = process.getuid?.() ?? null;
const real = realpathSync(findBunBinary(process.arch) ?? "/nonexistent");
let folder = "";
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-bun-")))));
afterEach(() => rmSync(folder, { recursive: true }));

function options(environment: HostBunOptions["environment"] = {}): HostBunOptions {
  return {
    platform: process.platform,
    architecture: process.arch,
    uid,
    environment,
    bunFolder: path.join(folder, "state", "bun"),
    fetchBun: () => Promise.reject(new Error("nothing is fetched here")),
  };
}

/** As on a machine without any Bun: none is made for it, so none is beside Glovebox. */
const strange = (archive: Uint8Array | Error, platform: "darwin" | "win32" = "win32"): HostBunOptions => ({
  ...options(),
  platform,
  architecture: "arm64",
  fetchBun: () => (archive instanceof Error ? Promise.reject(archive) : Promise.resolve(archive)),
});
const cache = (): string => path.join(folder, "state", "bun", bunVersion);
const packed = (name: string): Buffer => gzipSync(tarOf([{ path: name, content: Buffer.from("MZ a program") }]));

describe("which Bun is used", () => {
  it("is that of GLOVEBOX_BUN, whatever the PATH has", async () => {
    const named = path.join(folder, "my-bun");
    symlinkSync(real, named);
    expect((await HostBun.find(options({ GLOVEBOX_BUN: named, PATH: path.dirname(real) }))).path).toBe(named);
  });

  it.each([
    [bunVersion, true],
    ["0.0.1", false],
  ])("is one of npm's on the PATH by the version of its package, without running it: %s", async (version, isUsed) => {
    const bin = path.join(folder, "node_modules", "bun", "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(path.join(bin, "..", "package.json"), JSON.stringify({ name: "bun", version }));
    writeFileSync(path.join(bin, "bun"), Buffer.from("7f454c46", "hex"));
    const found = await HostBun.find({ ...options({ PATH: bin }), platform: "linux" });
    expect(found.path === path.join(bin, "bun")).toBe(isUsed);
  });

  it.each(["/nonexistent/bun", "bun", "/etc/passwd"])("is none for GLOVEBOX_BUN=%s, with an error", async (named) => {
    await expect(HostBun.find(options({ GLOVEBOX_BUN: named }))).rejects.toMatchObject({
      errorType: "ENGINE_UNAVAILABLE",
      message: `GLOVEBOX_BUN: ${named} is not a program.`,
    });
  });

  it.runIf(process.platform === "linux")(
    "is the package beside Glovebox where nothing else is, as on linux here",
    async () => {
      const found = await HostBun.find({ ...options(), platform: "linux" });
      expect(realpathSync(found.path ?? "")).toBe(real);
    },
  );

  it("is that of the PATH only in the pinned version", async () => {
    const [right, wrong] = [path.join(folder, "right"), path.join(folder, "wrong")];
    for (const place of [right, wrong]) mkdirSync(place);
    copyFileSync(real, path.join(right, "bun"));
    copyFileSync(realpathSync("/bin/true"), path.join(wrong, "bun"));
    expect((await HostBun.find(options({ PATH: `relative:${right}` }))).path).toBe(path.join(right, "bun"));
    expect((await HostBun.find(options({ PATH: wrong }))).path).not.toBe(path.join(wrong, "bun"));
  });
});

describe("a Bun that is not there", () => {
  it.each([
    ["darwin", "darwin-aarch64", "bun"],
    ["win32", "windows-aarch64", "bun.exe"],
  ] as const)(
    "is fetched when it is first needed, once for all who ask, and then found: on %s",
    async (platform, wanted, name) => {
      let fetched = 0;
      const bun = await HostBun.find({
        ...strange(new Error(), platform),
        fetchBun: async (target) => {
          expect(target).toBe(wanted);
          fetched += 1;
          return packed(`package/bin/${name}`);
        },
      });
      expect(bun.source).toEqual({ folder: cache() });
      await Promise.all([bun.provide(), bun.provide()]);
      await bun.provide();
      expect([fetched, bun.path]).toEqual([1, path.join(cache(), name)]);
      const later = await HostBun.find(strange(new Error("it is there"), platform));
      await later.provide();
      expect(later.path).toBe(bun.path);
    },
  );

  it("is an error with the reason when it cannot be fetched, and is tried again", async () => {
    const bun = await HostBun.find(strange(new Error("npm was not found on this machine")));
    for (const _ of [1, 2]) {
      await expect(bun.provide()).rejects.toMatchObject({
        errorType: "ENGINE_UNAVAILABLE",
        message: expect.stringContaining("is not on this machine: npm was not found on this machine.") as string,
      });
    }
    const empty = await HostBun.find(strange(packed("package/README.md")));
    await expect(empty.provide()).rejects.toThrow("the package has no package/bin/bun.exe");
  });

  it.skipIf(uid === null)("is not taken from a folder or a file that others can change", async () => {
    mkdirSync(cache(), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(cache(), "bun.exe"), "MZ theirs");
    chmodSync(path.join(cache(), "bun.exe"), 0o777);
    const withFile = await HostBun.find(strange(packed("package/bin/bun.exe")));
    await expect(withFile.provide()).rejects.toThrow(/other users could have changed it/);
    rmSync(path.join(cache(), "bun.exe"));
    chmodSync(cache(), 0o777);
    const withFolder = await HostBun.find(strange(packed("package/bin/bun.exe")));
    expect([withFolder.source, withFolder.path]).toEqual([null, null]);
    await expect(withFolder.provide()).rejects.toThrow(/its folder for Bun/);
  });
});
