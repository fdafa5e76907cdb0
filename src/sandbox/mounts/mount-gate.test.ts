import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blockedPatterns } from "../../policy/mounts/blocked-pattern.ts";
import type { MountVerdict } from "../../policy/mounts/mount-verdict.ts";
import { judgeHostPath } from "./mount-gate.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(at("root", "sub"), { recursive: true });
  mkdirSync(at("outside"));
  writeFileSync(at("root", "a.txt"), "a");
  writeFileSync(at("root", ".env"), "SECRET=1");
  writeFileSync(at("outside", "b.txt"), "b");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function judge(given: string, kept: readonly string[] = []): Promise<MountVerdict> {
  const root = { source: "working_directory", listedAs: "the working directory", allowReadWrite: true } as const;
  const policy = {
    roots: [{ ...root, path: at("root"), description: null }],
    blockedPatterns: blockedPatterns([]),
    protectedPlaces: kept.map((name) => ({ path: at("root", name), what: "something kept" })),
    nonMainReadOnly: true,
    hasAllowlist: false,
    projectsSetting: "GLOVEBOX_PROJECT_ROOTS",
  };
  const gate = { policy, platform: process.platform, workingDirectory: at("root") };
  await using judged = await judgeHostPath(gate, { path: given, use: "project", access: "read-only", isMain: false });
  expect(judged.place === null).toBe(!judged.verdict.allowed);
  return judged.verdict;
}

const ruleFor = async (given: string, ...kept: string[]): Promise<string> => (await judge(given, kept)).rule;

describe("judgeHostPath", () => {
  it.each(["a.txt", "./a.txt", "sub/../a.txt", "sub", "sub/", ".", "../root/a.txt"])(
    "lets %s through",
    async (given) => {
      expect(await ruleFor(given)).toBe("working-directory");
      expect(await ruleFor(path.join(folder, "root", given))).toBe("working-directory");
    },
  );

  it.each(["..", "../outside/b.txt", "/etc/passwd", "/", "sub/../../outside", "../root2"])(
    "%s is outside",
    async (given) => {
      expect(await ruleFor(given)).toBe("outside-roots");
    },
  );

  it("follows links before it judges", async () => {
    symlinkSync("../outside/b.txt", at("root", "out.txt"));
    symlinkSync("../outside", at("root", "out"));
    symlinkSync(".env", at("root", "innocent"));
    symlinkSync("a.txt", at("root", "fine"));
    symlinkSync(at("root"), at("outside", "back"));
    expect(await ruleFor("out.txt")).toBe("outside-roots");
    expect(await ruleFor("out/b.txt")).toBe("outside-roots");
    expect(await ruleFor("innocent")).toBe("blocked-pattern");
    expect(await ruleFor("fine")).toBe("working-directory");
    expect(await ruleFor("out/back/a.txt")).toBe("working-directory");
  });

  it.each([".env", "./.env", "sub/../.env"])("%s is blocked", async (given) => {
    expect(await ruleFor(given)).toBe("blocked-pattern");
  });

  it("says what is missing only below a root, and nothing about what is elsewhere", async () => {
    symlinkSync(at("outside", "nothing"), at("root", "dangling"));
    symlinkSync(at("outside"), at("root", "away"));
    expect(await ruleFor("nowhere")).toBe("missing");
    expect(await ruleFor("a.txt/x")).toBe("missing");
    expect(await ruleFor("sub/x/y")).toBe("missing");
    for (const [exists, not] of [
      ["/etc/passwd", "/etc/nothing"],
      ["../outside/b.txt", "../outside/c.txt"],
      ["away/b.txt", "away/c.txt"],
      ["away/b.txt", "dangling"],
      ["away/b.txt", "dangling/x"],
      ["away/b.txt", "away/b.txt/x"],
    ] as const) {
      const [there, nothing] = await Promise.all([judge(exists), judge(not)]);
      expect(nothing.rule).toBe("outside-roots");
      expect(nothing.explanation).toBe(there.explanation);
    }
  });

  it.each(["a\0b", "loop", "x".repeat(5000)])("refuses what the system cannot open: %j", async (given) => {
    symlinkSync("loop", at("root", "loop"));
    expect((await judge(given)).allowed).toBe(false);
  });

  it("refuses a socket", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at("root", "s"), resolve));
    try {
      expect(await ruleFor("s")).toBe("not-a-file-or-folder");
    } finally {
      server.close();
    }
  });

  it("refuses a folder that holds a protected place", async () => {
    mkdirSync(at("root", "kept"));
    expect(await ruleFor(".", "kept")).toBe("protected-place");
    expect(await ruleFor("kept", "kept")).toBe("protected-place");
    expect(await ruleFor("sub", "kept")).toBe("working-directory");
  });
});
