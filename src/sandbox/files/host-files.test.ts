import { execFileSync, spawn } from "node:child_process";
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bytesOf } from "../../../test/helpers/bytes-of.ts";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { SandboxFiles } from "./sandbox-files.ts";
import type { HostPlaces } from "./host-place.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
/** A place that programs write to, and what is none of theirs. */
let places: HostPlaces;
let files: SandboxFiles;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-host-files-"));
  for (const name of ["work", "fixed", "outside"]) mkdirSync(at(name));
  writeFileSync(at("outside", "secret"), "secret");
  writeFileSync(at("fixed", "module.py"), "fixed");
  places = {
    places: [
      { inside: "/work", here: at("work"), readOnly: false },
      { inside: "/packages", here: at("fixed"), readOnly: true },
    ],
    platform: process.platform,
    assertLiving: () => Promise.resolve(),
  };
  files = new SandboxFiles({}, { programs: "interpretersOnly", isolation: "preload" }, places);
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = async (name: string, options = {}): Promise<string> =>
  (await bytesOf((await files.read(name, options)).chunks)).toString();
const secretIsWhole = (): void => {
  expect(readFileSync(at("outside", "secret"), "utf8")).toBe("secret");
  expect(readdirSync(at("outside"))).toEqual(["secret"]);
};

describe("files of a sandbox whose folders are on this machine", () => {
  it("go in and come out whole and in part, in folders made for them", async () => {
    const content = Buffer.from("0123456789");
    await files.write("/work/a/b/notes.txt", content);
    expect(await read("/work/a/b/notes.txt")).toBe("0123456789");
    expect(await read("/work/a/../a/b/notes.txt", { offsetBytes: 3, maxBytes: 4 })).toBe("3456");
    expect((await files.read("/work/a/b/notes.txt", { offsetBytes: 50 })).sizeBytes).toBe(10);
    expect(statSync(at("work/a/b/notes.txt")).mode & 0o777).toBe(0o644);
    expect(readdirSync(at("work/a/b")), "nothing beside it").toEqual(["notes.txt"]);
  });

  it("are listed to a depth and a number, links as links", async () => {
    await files.write("/work/b/c", Buffer.from("xx"));
    symlinkSync(at("outside"), at("work/a"));
    const { entries, isTruncated } = await files.list("/work", { depth: 2 });
    expect(entries.map(({ path: name, kind, sizeBytes }) => [name, kind, sizeBytes])).toEqual([
      ["a", "link", 0],
      ["b", "folder", 0],
      ["b/c", "file", 2],
    ]);
    expect(isTruncated).toBe(false);
    const one = await files.list("/work", { depth: 2, maxEntries: 1 });
    expect([one.entries.length, one.isTruncated]).toEqual([1, true]);
  });

  it("are known by the names that programs have for them, and by no other names of this machine", async () => {
    await files.write("/work/x", Buffer.from("x"));
    expect(await read(at("work/x"))).toBe("x");
    for (const name of [at("outside/secret"), "/etc/passwd", "/work/../etc/passwd", "/workother/x", "/"]) {
      await failureOf(files.read(name), "NOT_FOUND");
    }
  });

  it("can be read where only reading is allowed, and not written", async () => {
    expect(await read("/packages/module.py")).toBe("fixed");
    await failureOf(files.write("/packages/new", Buffer.from("x")), "PERMISSION_DENIED");
  });

  it("keep what was there when the content is not as long as was said", async () => {
    await files.write("/work/x", Buffer.from("before"));
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("aft");
    };
    await failureOf(files.write("/work/x", { sizeBytes: 5, chunks: chunks() }), "INVALID_REQUEST");
    expect(await read("/work/x")).toBe("before");
    expect(readdirSync(at("work"))).toEqual(["x"]);
  });

  it("are not there any more when the sandbox has ended", async () => {
    const gone = { ...places, assertLiving: () => Promise.reject(new GloveboxError("SANDBOX_LOST", "It has ended.")) };
    const ended = new SandboxFiles({}, { programs: "interpretersOnly", isolation: "preload" }, gone);
    await failureOf(ended.list("/work"), "SANDBOX_LOST");
  });
});

describe("what a hostile program leaves among them", () => {
  it.each([
    ["a link to a file", () => symlinkSync(at("outside/secret"), at("work/x"))],
    ["a link that leads nowhere", () => symlinkSync(at("outside/new"), at("work/x"))],
    ["a link to itself", () => symlinkSync("x", at("work/x"))],
    ["a link to a device", () => symlinkSync("/dev/zero", at("work/x"))],
    ["a FIFO that nobody writes to", () => execFileSync("mkfifo", [at("work/x")])],
    ["a folder", () => mkdirSync(at("work/x"))],
  ])("%s is neither read nor written", async (_, plant) => {
    plant();
    await failureOf(files.read("/work/x"), "INVALID_REQUEST");
    await failureOf(files.write("/work/x", Buffer.from("evil")), "INVALID_REQUEST");
    secretIsWhole();
  });

  it("a link in the place of a folder on the way leads nowhere, and is not listed through", async () => {
    symlinkSync(at("outside"), at("work/sub"));
    await failureOf(files.read("/work/sub/secret"), "INVALID_REQUEST");
    await failureOf(files.write("/work/sub/secret", Buffer.from("evil")), "INVALID_REQUEST");
    await failureOf(files.write("/work/sub/new/x", Buffer.from("evil")), "INVALID_REQUEST");
    await failureOf(files.list("/work/sub"), "INVALID_REQUEST");
    expect((await files.list("/work", { depth: 5 })).entries.map(({ path: name }) => name)).toEqual(["sub"]);
    secretIsWhole();
  });

  it("a link in the place of the whole folder leads nowhere", async () => {
    rmSync(at("work"), { recursive: true });
    symlinkSync(at("outside"), at("work"));
    await failureOf(files.read("/work/secret"), "INVALID_REQUEST");
    await failureOf(files.list("/work"), "INVALID_REQUEST");
    await failureOf(files.write("/work/secret", Buffer.from("evil")), "INVALID_REQUEST");
    secretIsWhole();
  });

  it.runIf(process.getuid?.() === 0)(
    "a second name of another user's file is not read; a new file is its user's",
    async () => {
      linkSync(at("outside/secret"), at("work/mine"));
      execFileSync("chown", ["65534:65534", at("work")]);
      await failureOf(files.read("/work/mine"), "PERMISSION_DENIED");
      await files.write("/work/mine", Buffer.from("replaced"));
      secretIsWhole();
      await files.write("/work/new/deep/file", Buffer.from("x"));
      const owners = ["mine", "new", "new/deep", "new/deep/file"].map((name) => lstatSync(at("work", name)).uid);
      expect(owners).toEqual([65534, 65534, 65534, 65534]);
      expect(lstatSync(at("outside/secret")).uid).toBe(0);
    },
  );

  it("many at once: only what is a file of its own is found, and read as far as it fits", async () => {
    await files.write("/work/a/small", Buffer.from("small"));
    await files.write("/work/big", Buffer.alloc(1000));
    symlinkSync(at("outside"), at("work/out"));
    symlinkSync(at("outside/secret"), at("work/link"));
    execFileSync("mkfifo", [at("work/pipe")]);
    execFileSync("sh", ["-c", 'printf x > "$1/$(printf "bad\\377")"', "sh", at("work")]);
    const found = await files.findEntries("/work");
    const named = Object.values(found).map((paths: readonly Uint8Array[]) =>
      paths.map((path) => Buffer.from(path).toString("latin1")).toSorted(),
    );
    expect(named).toEqual([["a/small", "bad\xff", "big"], ["link", "out"], ["pipe"], []]);
    const paths = ["a/small", "big", "link", "out/secret", "pipe", "../outside/secret", "gone"];
    const read = await files.readBatch("/work", { paths, maxFileBytes: 500, maxBytes: 10_000 });
    expect(
      read.map(({ sizeBytes, bytes }) => [sizeBytes, bytes === null ? null : Buffer.from(bytes).toString()]),
    ).toEqual([[5, "small"], [1000, null], ...Array.from({ length: 5 }, () => [null, null])]);
    const little = await files.readBatch("/work", { paths: ["a/small", "a/small"], maxFileBytes: 500, maxBytes: 7 });
    expect(little.map(({ bytes }) => bytes?.length)).toEqual([5, undefined]);
  });

  it("folders in folders without end, and a flood of names, come to an end", async () => {
    execFileSync("sh", [
      "-c",
      'cd "$1"; i=0; while [ $i -lt 300 ]; do mkdir d && cd d; i=$((i+1)); done',
      "sh",
      at("work"),
    ]);
    await failureOf(files.list("/work", { depth: 1000 }), "POLICY_DENIED");
    execFileSync("sh", ["-c", 'mkdir "$1" && cd "$1" && seq 1 5000 | xargs touch', "sh", at("work/flood")]);
    const { entries, isTruncated } = await files.list("/work/flood", { maxEntries: 1000 });
    expect([entries.length, isTruncated]).toEqual([1000, true]);
  });

  it("a file that grows while it is read ends where it ended when it was opened", async () => {
    writeFileSync(at("work/log"), "x".repeat(100_000));
    const { sizeBytes, chunks } = await files.read("/work/log");
    writeFileSync(at("work/log"), "y".repeat(500_000), { flag: "a" });
    expect([sizeBytes, (await bytesOf(chunks)).length]).toEqual([100_000, 100_000]);
  });
});

/** Exchanges two things as fast as it can, until it is ended. */
const swapper = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
print("begun", flush=True)
while True: libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
`;

describe.runIf(process.platform === "linux")("what a hostile program does meanwhile", () => {
  it.each([
    ["a folder on the way", "sub", "evil", "/work/sub/secret"],
    ["the file itself", "secret", "evil", "/work/secret"],
  ])("exchanging %s with a link leads nobody out", async (_, name, evil, target) => {
    const isFolder = name === "sub";
    if (isFolder) mkdirSync(at("work", name));
    writeFileSync(isFolder ? at("work/sub/secret") : at("work/secret"), "harmless");
    symlinkSync(isFolder ? at("outside") : at("outside/secret"), at("work", evil));
    const swapping = spawn("python3", ["-c", swapper, at("work", name), at("work", evil)]);
    await new Promise((resolve) => swapping.stdout.once("data", resolve));
    try {
      const seen = new Set<string>();
      for (let turn = 0; turn < 400; turn += 1) {
        const text = await read(target).catch((error: unknown) => (error as GloveboxError).errorType);
        seen.add(text);
        await files.write(target, Buffer.from("harmless")).catch(() => null);
        await files.list(isFolder ? "/work/sub" : "/work").catch(() => null);
      }
      expect([...seen], "never what lies outside").not.toContain("secret");
      expect([...seen].some((text) => text === "harmless" || text === "INVALID_REQUEST")).toBe(true);
    } finally {
      swapping.kill("SIGKILL");
      await new Promise((resolve) => swapping.once("close", resolve));
    }
    secretIsWhole();
  });
});
