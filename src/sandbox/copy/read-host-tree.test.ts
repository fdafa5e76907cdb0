import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { CopyBudget } from "./copy-budget.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { readHostFile, readHostTree } from "./read-host-tree.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-copy-"));
  mkdirSync(at("source/sub"), { recursive: true });
  mkdirSync(at("outside"));
  writeFileSync(at("outside/secret"), "secret");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function read(budget: CopyBudget, onEntry?: (name: string) => void): Promise<readonly string[]> {
  await using root = await HostFolder.open(at("source"), process.platform);
  const seen: string[] = [];
  for await (const entry of readHostTree(root, budget)) {
    onEntry?.(entry.path);
    let text = "target" in entry ? `-> ${entry.target}` : "";
    if (entry.kind === "file") for await (const chunk of entry.chunks) text += Buffer.from(chunk).toString();
    seen.push(`${entry.path} ${entry.mode.toString(8)} ${text}`);
  }
  return seen;
}

it("reads files and folders, links as links, and leaves out what is none of these", async () => {
  writeFileSync(at("source/sub/f"), "text", { mode: 0o640 });
  symlinkSync("../../outside", at("source/sub/l"));
  execFileSync("mkfifo", [at("source/pipe")]);
  const budget = new CopyBudget({});
  expect(await read(budget)).toEqual(["sub 755 ", "sub/f 640 text", "sub/l 777 -> ../../outside"]);
  expect(budget.warnings.join()).toContain('"pipe"');
  expect([budget.entries, budget.bytes]).toEqual([4, 4]);
});

it("stops at the limit before it reads what goes beyond", async () => {
  writeFileSync(at("source/sub/f"), "12345");
  await failureOf(read(new CopyBudget({ maxBytes: 4 })), "POLICY_DENIED");
  await failureOf(read(new CopyBudget({ maxEntries: 1 })), "POLICY_DENIED");
});

it("follows no link that takes a file's place between the look and the opening", async () => {
  symlinkSync(at("outside/secret"), at("source/f"));
  const texts: string[] = [];
  const copy = async (): Promise<void> => {
    await using root = await HostFolder.open(at("source"), process.platform);
    for await (const { chunks } of readHostFile({ folder: root, name: "f" }, "f", new CopyBudget({}))) {
      for await (const chunk of chunks) texts.push(Buffer.from(chunk).toString());
    }
  };
  const failure = await copy().catch((error: unknown) => error);
  expect(texts).toEqual([]);
  expect(failure).toMatchObject({ errorType: "INVALID_REQUEST" });
});

it("follows no link that takes a folder's place while it is read", async () => {
  const swap = (name: string): void => {
    if (name !== "sub") return;
    rmSync(at("source/sub"), { recursive: true });
    symlinkSync(at("outside"), at("source/sub"));
  };
  await failureOf(read(new CopyBudget({}), swap), "INVALID_REQUEST");
});

it("refuses folders that are too deep, by name, before anything runs out", async () => {
  mkdirSync(at("source", ...Array.from({ length: 600 }, () => "d")), { recursive: true });
  const failure = await failureOf(read(new CopyBudget({})), "POLICY_DENIED");
  expect(failure.message).toMatch(/^"d\/d.* has folders more than 512 deep\.$/);
});

it("says of a file on which another program has a lease that it is held", async () => {
  writeFileSync(at("source/leased"), "text");
  const script = [
    "import fcntl, os, signal, sys, time",
    "signal.signal(signal.SIGIO, signal.SIG_IGN)",
    "fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)",
    "print('held', flush=True)",
    "time.sleep(60)",
  ].join("\n");
  const holder = spawn("python3", ["-c", script, at("source/leased")], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(holder.stdout, "data");
    const failure = await failureOf(read(new CopyBudget({})), "PERMISSION_DENIED");
    expect(failure.message).toBe('"leased" is held by another program of this machine, which has a lease on it.');
  } finally {
    holder.kill("SIGKILL");
  }
});
