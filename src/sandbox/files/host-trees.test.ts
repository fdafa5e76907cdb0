import { execFileSync, spawn } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bytesOf } from "../../../test/helpers/bytes-of.ts";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import type { NewTreeEntry } from "./file-way.ts";
import { SandboxFiles } from "./sandbox-files.ts";
import { treeLimits } from "./move-bounds.ts";
import { readHostPlace, writeHostPlace, type HostPlaces } from "./host-place.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
const sh = (line: string): string => execFileSync("sh", ["-c", line], { cwd: folder, encoding: "utf8" });
let places: HostPlaces;
let files: SandboxFiles;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-host-trees-"));
  for (const name of ["work", "other", "fixed", "outside"]) mkdirSync(at(name));
  writeFileSync(at("outside", "secret"), "secret");
  places = {
    places: [
      { inside: "/work", here: at("work"), readOnly: false },
      { inside: "/other", here: at("other"), readOnly: false },
      { inside: "/packages", here: at("fixed"), readOnly: true },
    ],
    platform: process.platform,
    assertLiving: () => Promise.resolve(),
  };
  files = new SandboxFiles({}, { programs: "interpretersOnly", isolation: "preload" }, places);
});
afterEach(() => rmSync(folder, { recursive: true }));

const modifiedAtMs = Date.UTC(2001, 1, 3, 4, 5, 6);
const common = { mode: 0o755, modifiedAtMs } as const;
function file(name: string, text: string, mode = 0o644): NewTreeEntry {
  const chunks = (async function* () {
    yield Buffer.from(text);
  })();
  return { kind: "file", path: name, mode, modifiedAtMs, sizeBytes: Buffer.byteLength(text), chunks };
}

async function treeOf(place: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const entry of files.readTree(place)) {
    if (entry.kind === "file") found[entry.path] = (await bytesOf(entry.chunks)).toString();
    else found[entry.path] = "target" in entry ? `-> ${entry.target}` : entry.kind;
  }
  return found;
}

async function move(from: string, to: string, maxBytes = 1_000_000): Promise<void> {
  await files.unpack(to, files.pack(from, { maxBytes }));
}

const nothingOutside = (): void => {
  expect(readdirSync(at("outside"))).toEqual(["secret"]);
  expect(readFileSync(at("outside", "secret"), "utf8")).toBe("secret");
};

describe("trees of a sandbox whose folders are on this machine", () => {
  it("go in and come out as they were, whatever the umask", async () => {
    const usual = process.umask(0o077);
    try {
      await files.writeTree("/work/new/tree", [
        { ...common, kind: "folder", path: "deep" },
        { ...common, kind: "folder", path: "deep/er", mode: 0o750 },
        file("deep/er/run", "run", 0o755),
        file("line\nbreak", "x", 0o600),
        { ...common, kind: "link", path: "link", target: "deep/er/run" },
        { ...common, kind: "hard-link", path: "twin", target: "line\nbreak" },
      ]);
    } finally {
      process.umask(usual);
    }
    expect(await treeOf("/work/new/tree")).toEqual({
      "": "folder",
      deep: "folder",
      "deep/er": "folder",
      "deep/er/run": "run",
      "line\nbreak": "x",
      link: "-> deep/er/run",
      twin: "x",
    });
    const facts = ["deep/er", "deep/er/run"].map((name) => lstatSync(at("work/new/tree", name)));
    expect(facts.map(({ mode, mtimeMs }) => [mode & 0o777, mtimeMs])).toEqual([
      [0o750, modifiedAtMs],
      [0o755, modifiedAtMs],
    ]);
    expect(await treeOf("/work/new/tree/line\nbreak")).toEqual({ "line\nbreak": "x" });
    expect(await treeOf("/work/new/tree/link")).toEqual({ link: "-> deep/er/run" });
    await failureOf(treeOf("/work/absent"), "NOT_FOUND");
    await failureOf(files.writeTree("/packages", [file("x", "x")]), "PERMISSION_DENIED");
  });

  it("are packed in one place and unpacked in another, an empty one too", async () => {
    await move("/work", "/other");
    expect(readdirSync(at("other"))).toEqual([]);
    sh("mkdir -p work/a/b work/empty; printf 12 >work/a/b/c; chmod 640 work/a/b/c; chmod 500 work/a/b");
    await move("/work", "/other");
    expect(await treeOf("/other")).toEqual({
      "": "folder",
      a: "folder",
      "a/b": "folder",
      "a/b/c": "12",
      empty: "folder",
    });
    expect(["a/b", "a/b/c"].map((name) => lstatSync(at("other", name)).mode & 0o777)).toEqual([0o500, 0o640]);
    sh("chmod 700 work/a/b other/a/b");
  });

  it.runIf(process.getuid?.() === 0)("become the sandbox's user's", async () => {
    sh("chown 65534:65534 work");
    await files.writeTree("/work/new", [{ ...common, kind: "folder", path: "a" }, file("a/b", "x")]);
    const owners = ["new", "new/a", "new/a/b"].map((name) => lstatSync(at("work", name)).uid);
    expect(owners).toEqual([65534, 65534, 65534]);
    sh("ln outside/secret work/new/mine");
    await failureOf(treeOf("/work/new"), "PERMISSION_DENIED");
  });
});

describe("what a hostile program leaves in a tree", () => {
  it("links come as links and FIFOs as such; neither is opened, and neither is packed in silence", async () => {
    symlinkSync(at("outside"), at("work/out"));
    sh("mkfifo work/pipe");
    expect(await treeOf("/work")).toEqual({ "": "folder", out: `-> ${at("outside")}`, pipe: "other" });
    await failureOf(move("/work", "/other"), "INVALID_REQUEST");
    rmSync(at("work/out"));
    await failureOf(move("/work", "/other"), "INVALID_REQUEST");
  });

  it("a name that is not UTF-8 is refused in words", async () => {
    sh('printf x >"work/$(printf "bad\\377")"');
    expect((await failureOf(treeOf("/work"), "INVALID_REQUEST")).message).toContain("not UTF-8");
    await failureOf(move("/work", "/other"), "INVALID_REQUEST");
  });

  it.each([["/etc"], ["../outside"], ["../beside"], ["a/../../outside"], [".."], ["a/.."], [""]])(
    "a link to %j does not go in",
    async (target) => {
      const link = { ...common, kind: "link", path: "deep/er/link", target } as const;
      const folders = ["deep", "deep/er"].map((name) => ({ ...common, kind: "folder", path: name }) as const);
      await failureOf(files.writeTree("/work", [...folders, link]), "POLICY_DENIED");
      expect(readdirSync(at("work/deep/er"))).toEqual([]);
    },
  );

  it("links that are there are replaced, never followed, wherever they stand", async () => {
    symlinkSync(at("outside"), at("work/sub"));
    symlinkSync(at("outside/secret"), at("work/file"));
    await files.writeTree("/work", [file("file", "new")]);
    await failureOf(files.writeTree("/work", [file("sub/secret", "evil")]), "INVALID_REQUEST");
    await failureOf(files.writeTree("/work/sub", [file("secret", "evil")]), "INVALID_REQUEST");
    await failureOf(treeOf("/work/sub/secret"), "INVALID_REQUEST");
    expect(readFileSync(at("work/file"), "utf8")).toBe("new");
    nothingOutside();
  });

  it("paths that lead out are refused", async () => {
    for (const name of ["../out", "/out", "a/../../out"]) {
      await failureOf(files.writeTree("/work", [file(name, "evil")]), "POLICY_DENIED");
    }
    expect(readdirSync(folder).toSorted()).toEqual(["fixed", "other", "outside", "work"]);
  });

  it("folders in folders, floods of names and of bytes come to an end", { timeout: 120_000 }, async () => {
    sh("cd work; i=0; while [ $i -lt 300 ]; do mkdir d && cd d || exit 1; i=$((i+1)); done");
    await failureOf(treeOf("/work"), "POLICY_DENIED");
    rmSync(at("work/d"), { recursive: true });
    sh("cd work && seq 1 2000 | xargs touch && truncate -s 10G sparse");
    await failureOf(move("/work", "/other"), "POLICY_DENIED");
    const limits = { ...treeLimits, maxEntries: 1000 };
    const read = async (): Promise<void> => {
      for await (const _ of readHostPlace(places, "/work", { limits }));
    };
    await failureOf(read(), "POLICY_DENIED");
    const many = Array.from({ length: 1001 }, (_, index) => file(`${index}`, ""));
    await failureOf(writeHostPlace(places, "/other", many, { limits }), "POLICY_DENIED");
    const large = [file("large", "x".repeat(1001))];
    await failureOf(
      writeHostPlace(places, "/other", large, { limits: { ...limits, maxBytes: 1000 } }),
      "POLICY_DENIED",
    );
    const abort = AbortSignal.abort();
    await failureOf(files.writeTree("/other", [file("x", "x")], { signal: abort }), "CANCELLED");
  });

  it("an archive that is none, or is cut off, puts nothing anywhere else", async () => {
    const cut = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of files.pack("/work", { maxBytes: 10_000 })) {
        yield piece.subarray(0, 200);
        return;
      }
    };
    writeFileSync(at("work/file"), "x".repeat(1000));
    await failureOf(files.unpack("/other", cut()), "POLICY_DENIED");
    const noise = (async function* () {
      yield Buffer.alloc(5000, 0x41);
    })();
    await failureOf(files.unpack("/other", noise), "POLICY_DENIED");
  });
});

/** Exchanges two things as fast as it can, until it is ended. */
const swapper = `
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
print("begun", flush=True)
while True: libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
`;

describe.runIf(process.platform === "linux")("what a hostile program does meanwhile", () => {
  it.each([
    ["a folder of the tree", "sub", "outside"],
    ["a file of the tree", "secret", "outside/secret"],
  ])("exchanging %s with a link leads nobody out", async (_, name, evil) => {
    mkdirSync(at("work/tree"));
    const isFolder = name === "sub";
    if (isFolder) mkdirSync(at("work/tree/sub"));
    writeFileSync(at("work/tree", isFolder ? "sub/secret" : "secret"), "harmless");
    symlinkSync(at(evil), at("work/evil"));
    const swapping = spawn("python3", ["-c", swapper, at("work/tree", name), at("work/evil")]);
    await new Promise((resolve) => swapping.stdout.once("data", resolve));
    const seen = new Set<string>();
    try {
      for (let turn = 0; turn < 300; turn += 1) {
        for (const text of Object.values(await treeOf("/work/tree").catch(() => ({})))) seen.add(text);
        await files.writeTree("/work/tree", [file(isFolder ? "sub/secret" : "secret", "harmless")]).catch(() => null);
      }
    } finally {
      swapping.kill("SIGKILL");
      await new Promise((resolve) => swapping.once("close", resolve));
    }
    expect([...seen], "never what lies outside").not.toContain("secret");
    expect([...seen]).toContain("harmless");
    nothingOutside();
  });
});
