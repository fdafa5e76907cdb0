import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { HostFolder } from "../../base/host-folder.ts";
import { ignoringFilter, LeftOut } from "./copy-project.ts";
import { TreeSize, type KnownFolder } from "./known-tree.ts";
import { ProjectLook } from "./look-at-project.ts";
import { PendingChanges } from "./pending-changes.ts";
import { readChanges } from "./live-copy.ts";

let folder: string;
let root: HostFolder;
let look: ProjectLook;
let changes: PendingChanges;
let leftOut: LeftOut;
let marked: Map<KnownFolder, null>;

const at = (name: string): string => path.join(folder, name);
const put = (name: string, text = ""): void => {
  mkdirSync(path.dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
};

function open(maxEntries = 1_000): ProjectLook {
  [changes, leftOut, marked] = [new PendingChanges(), new LeftOut(), new Map()];
  return new ProjectLook({
    ...{ root, changes, leftOut, filter: ignoringFilter(leftOut.notes) },
    size: new TreeSize({ maxBytes: 1_000_000, maxEntries }),
    onChange: (known) => void marked.set(known, null),
    signal: new AbortController().signal,
  });
}

/** What the last look has found. */
function found(): object {
  const { put: added, gone, goneFolders, done } = changes.take(Infinity);
  done();
  return { put: added, gone, goneFolders };
}

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  root = await HostFolder.open(folder, process.platform);
  look = open();
});
afterEach(async () => {
  look.close();
  await root[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

it("finds what has changed, and nothing where nothing has", async () => {
  for (const name of ["a", "src/b", "src/deep/c", "kind", "node_modules/x/y"]) put(name, "1");
  await look.lookAtAll();
  expect(found()).toMatchObject({ put: ["a", "kind", "src", "src/b", "src/deep", "src/deep/c"] });
  await look.lookAtAll();
  expect(found()).toEqual({ put: [], gone: [], goneFolders: [] });
  put("src/b", "2");
  rmSync(at("kind"));
  put("kind/inside");
  rmSync(at("src/deep"), { recursive: true });
  await look.lookAtAll();
  expect(found()).toEqual({ put: ["kind", "kind/inside", "src/b"], gone: ["src/deep/c"], goneFolders: ["src/deep"] });
});

it("takes and leaves out what an edit of .gitignore says, in the folders below as well", async () => {
  for (const name of ["sub/a.log", "sub/b", "c.log"]) put(name, "1");
  await look.lookAtAll();
  found();
  put(".gitignore", "*.log\n");
  await look.lookAtAll();
  expect(found()).toEqual({ put: [".gitignore"], gone: ["sub/a.log", "c.log"], goneFolders: [] });
  put("sub/.gitignore", "!a.log\nb\n");
  await look.lookAtAll();
  expect(found()).toEqual({ put: ["sub/.gitignore", "sub/a.log"], gone: ["sub/b"], goneFolders: [] });
});

it("watches each folder that it takes, and none that it leaves out", async () => {
  for (const name of ["src/deep/a", "node_modules/x/y"]) put(name, "1");
  await look.lookAtAll();
  found();
  put("src/deep/a", "2");
  put("node_modules/x/y", "2");
  await expect.poll(() => [...marked.keys()].map(({ prefix }) => prefix)).toContain("src/deep/");
  await look.lookAt(marked);
  expect(found()).toMatchObject({ put: ["src/deep/a"] });
  rmSync(at("src/deep"), { recursive: true });
  put("src/deep/b", "1");
  await expect
    .poll(async () => (await look.lookAt(marked), found()), { timeout: 20_000 })
    .toMatchObject({ put: ["src/deep/b"] });
  marked.clear();
  put("src/deep/b", "2");
  await expect
    .poll(async () => (await look.lookAt(marked), found()), { timeout: 20_000 })
    .toMatchObject({ put: ["src/deep/b"] });
  expect([...marked.keys()].some(({ prefix }) => prefix.startsWith("node_modules"))).toBe(false);
});

it("refuses more than its limits", async () => {
  look.close();
  look = open(3);
  for (const name of ["a", "b", "c"]) put(name, "1");
  await look.lookAtAll();
  put("d", "1");
  await expect(look.lookAtAll()).rejects.toMatchObject({ errorType: "POLICY_DENIED" });
});

it.skipIf(process.getuid?.() === 0)("leaves out what may not be read, and names it", async () => {
  put("closed/a", "1");
  put("secret", "1");
  for (const name of ["closed", "secret"]) chmodSync(at(name), 0);
  await look.lookAtAll();
  const { put: paths } = changes.take(10);
  for await (const _ of readChanges(root, paths, leftOut));
  expect(leftOut.take()).toEqual(['Left out, not readable: "closed", "secret".']);
  chmodSync(at("closed"), 0o755);
});

it("reads nothing outside the project, whatever takes the place of its folders and files meanwhile", async () => {
  const outside = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  writeFileSync(path.join(outside, "a"), "secret");
  for (const name of ["src/a", "file", "aside/x"]) put(name, "mine");
  symlinkSync(outside, at("to-outside"));
  execFileSync("mkfifo", [path.join(outside, "pipe")]);
  writeFileSync(path.join(outside, "own"), "mine");
  symlinkSync(path.join(outside, "a"), path.join(outside, "link"));
  // Each passage of a loop takes some microseconds, so that it falls between any two looks of a reader.
  const exchange = `
    const { linkSync, renameSync, symlinkSync, unlinkSync } = require("node:fs");
    const [, folder, outside] = process.argv;
    process.chdir(folder);
    const put = (kind) => {
      linkSync(outside + "/" + kind, "aside/next");
      renameSync("aside/next", "file");
    };
    for (;;) {
      put("link");
      renameSync("src", "aside/src");
      symlinkSync(outside, "src");
      put("pipe");
      put("own");
      unlinkSync("src");
      renameSync("aside/src", "src");
    }`;
  const attacker = spawn(process.execPath, ["-e", exchange, folder, outside], { stdio: "ignore" });
  try {
    let read = 0;
    for (let count = 0; count < 100; count += 1) {
      await look.lookAtAll();
      const { put: paths } = changes.take(Infinity);
      for await (const entry of readChanges(root, [...paths, "src/a", "file"], leftOut)) {
        if (entry.kind !== "file") continue;
        read += 1;
        for await (const chunk of entry.chunks) expect(Buffer.from(chunk).toString()).not.toContain("secret");
      }
    }
    expect(read).toBeGreaterThan(0);
  } finally {
    attacker.kill("SIGKILL");
    await once(attacker, "close");
    rmSync(outside, { recursive: true });
  }
});
