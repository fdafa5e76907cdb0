import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHost } from "../../src/config/host/host.ts";
import { loadMountPolicy } from "../../src/config/load-mount-policy.ts";
import { GloveboxError } from "../helpers/wire-glovebox.ts";
import { openContextFile } from "../../src/workloads/execute/context-file-reader.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
const project = (...names: string[]): string => at("project", ...names);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(project("data"), { recursive: true });
  mkdirSync(at("outside"));
  writeFileSync(project("data", "a.txt"), "inside");
  writeFileSync(project(".env"), "KEY=private");
  writeFileSync(at("outside", "a.txt"), "private");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.runIf(process.platform === "linux")("a swap between check and use", () => {
  /** Swaps the target of a name as fast as it can until it is killed: the name always leads somewhere. */
  const swapper = `
    const { renameSync, symlinkSync } = require("node:fs");
    const [name, ...targets] = process.argv.slice(1);
    process.stdout.write("up");
    for (let turn = 0; ; turn += 1) {
      symlinkSync(targets[turn % targets.length], name + ".next");
      renameSync(name + ".next", name);
    }`;

  /** Reads a context file of the project as a run would, and returns the result. */
  async function reader(): Promise<(given: string) => Promise<"inside" | "private" | "refused">> {
    const host = { ...readHost(), workingDirectory: project(), homeDirectory: at("home") };
    const packages = { directory: "~/.glovebox/packages" };
    const config = { mountAllowlist: null, keysFile: null, projectRoots: null, engineEnvironment: {}, packages };
    const { policy } = await loadMountPolicy({
      config,
      host,
      workingDirectoryIsRoot: true,
      projectsSetting: "GLOVEBOX_PROJECT_ROOTS",
    });
    const gate = { policy, platform: host.platform, workingDirectory: project() };
    return async (given) => {
      try {
        await using file = await openContextFile(given, gate, { field: "context_files[0]" });
        const bytes = "read" in file.content ? await buffer(file.content.read()) : Buffer.from(file.content);
        return bytes.includes("private") ? "private" : "inside";
      } catch (error) {
        if (error instanceof GloveboxError) return "refused";
        throw error;
      }
    };
  }

  /** Whether a reader that first checks and then opens by name returns what it has just refused. */
  function readsPrivate(name: string): boolean {
    const real = realpathSync(name);
    return real === project("data", "a.txt") && readFileSync(name, "utf8").includes("private");
  }

  async function whileSwapping(name: string, targets: readonly string[], work: () => Promise<void>): Promise<void> {
    const child: ChildProcess = spawn(process.execPath, ["-e", swapper, name, ...targets], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    await once(child.stdout!, "data");
    try {
      await work();
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  }

  it.each([
    ["the file", "a.txt", ["data/a.txt", "../outside/a.txt"], "a.txt"],
    ["a folder on the way", "way", ["data", "../outside"], "way/a.txt"],
    ["to a blocked file", "b.txt", ["data/a.txt", ".env"], "b.txt"],
  ] as const)("of %s never hands out what is outside", async (_, name, targets, given) => {
    symlinkSync(targets[0], project(name));
    const seen = { inside: 0, private: 0, refused: 0 };
    let isNaiveFooled = false;
    const read = await reader();
    await whileSwapping(project(name), targets, async () => {
      for (let turn = 0; turn < 200; turn += 1) {
        seen[await read(given)] += 1;
      }
      for (let turn = 0; turn < 50_000 && !isNaiveFooled; turn += 1) isNaiveFooled = readsPrivate(project(given));
    });
    expect(seen.private).toBe(0);
    // The same swaps fool a reader that checks where a name leads and then reads the name.
    expect(isNaiveFooled).toBe(true);
    expect(seen.inside).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});
