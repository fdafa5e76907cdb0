import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPlace } from "../../sandbox/mounts/open-place.ts";
import { openMemory, type FoundMemory } from "./find-memory.ts";

const { platform, execPath: executable } = process;
let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(at("group", "memory", "deep"), { recursive: true });
  mkdirSync(at("global"));
  const notes = ["# Garden", "The irrigation pump needs a new seal in spring.", "", "# Kitchen", "Bread at seven."];
  writeFileSync(at("group", "MEMORY.md"), notes.join("\n"));
  writeFileSync(at("group", "memory", "deep", "cars.md"), "The blue car has winter tyres.");
  writeFileSync(at("group", "code.txt"), "The irrigation pump is not in here.");
  writeFileSync(at("global", "shared.md"), "The router's name is Fritz.");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function find(
  prompt: string,
  more: { minRelevance?: number; maxCharacters?: number } = {},
): Promise<FoundMemory> {
  const [workspace, global] = await Promise.all([openPlace(at("group"), platform), openPlace(at("global"), platform)]);
  if (workspace === null || global === null) throw new Error("The folders changed.");
  await using group = workspace;
  await using shared = global;
  const uid = process.getuid?.() ?? null;
  const findMemory = openMemory({ folder: at("state", "memory"), uid, platform, executable });
  const question = {
    folders: { workspace: group, global: shared },
    prompt,
    minRelevance: 0.3,
    maxCharacters: 8_000,
    ...more,
  };
  return await findMemory(question, undefined);
}

const indexes = (): readonly string[] => readdirSync(at("state", "memory")).map((name) => at("state", "memory", name));

describe("the memory of a group", { timeout: 120_000 }, () => {
  it("has the passages that a prompt is about, with where they stand, and no others", async () => {
    mkdirSync(at("state"));
    const { context, warnings } = await find("What was it about the pumps for irrigation?");
    expect(context).toBe("From group/MEMORY.md:\n# Garden\nThe irrigation pump needs a new seal in spring.");
    expect(warnings).toEqual([]);
    expect((await find("winter tyre")).context).toContain("From group/memory/deep/cars.md:");
    expect((await find("What is the name of our router?")).context).toContain("Fritz");
  });

  it("passes the gate only as far as its threshold says", async () => {
    mkdirSync(at("state"));
    const prompt = "bread recipe without yeast or butter";
    expect((await find(prompt, { minRelevance: 0.1 })).context).toContain("Bread at seven.");
    expect((await find(prompt, { minRelevance: 0.9 })).context).toBeNull();
    expect((await find("Write a poem of the moon")).context).toBeNull();
    expect((await find("the and of is", { minRelevance: 0 })).context).toBeNull();
  });

  it("keeps to its budget, the most relevant first, and leaves out what does not fit", async () => {
    mkdirSync(at("state"));
    const prompt = "irrigation pump seal spring bread";
    const all = (await find(prompt, { minRelevance: 0 })).context ?? "";
    expect(all).toContain("Bread");
    const less = (await find(prompt, { minRelevance: 0, maxCharacters: all.length - 1 })).context ?? "";
    expect(less).toContain("irrigation");
    expect(less).not.toContain("Bread");
    expect((await find(prompt, { maxCharacters: 0 })).context).toBeNull();
  });

  it("takes in what has changed, and forgets what is gone", async () => {
    mkdirSync(at("state"));
    expect((await find("blue car")).context).toContain("winter");
    writeFileSync(at("group", "memory", "deep", "cars.md"), "The blue car was sold in May.");
    expect((await find("blue car")).context).toContain("sold");
    rmSync(at("group", "memory"), { recursive: true });
    expect((await find("blue car")).context).toBeNull();
  });

  it.each(["not a database at all, but long enough to look at: ".repeat(100), "", "SQLite format 3\0broken"])(
    "makes a broken index anew: %#",
    async (content) => {
      mkdirSync(at("state"));
      await find("blue car");
      for (const index of indexes()) writeFileSync(index, content);
      const { context, warnings } = await find("blue car");
      expect(context).toContain("winter");
      expect(warnings).toEqual(
        content === "" ? [] : ["the index of the group's memory was broken, and was made anew."],
      );
    },
  );

  it("makes a missing index, and does without one where none can be kept", async () => {
    writeFileSync(at("state"), "no folder");
    const { context, warnings } = await find("blue car");
    expect(context).toContain("winter");
    expect(warnings).toEqual(["the index of the group's memory could not be kept, and is made for each run."]);
    expect(existsSync(at("state"))).toBe(true);
  });

  it.skipIf(platform === "win32")("follows no link, and reads nothing that is too large", async () => {
    mkdirSync(at("state"));
    mkdirSync(at("other"));
    writeFileSync(at("other", "secret.md"), "The password is swordfish.");
    symlinkSync(at("other", "secret.md"), at("group", "linked.md"));
    symlinkSync(at("other"), at("group", "memory", "linked"));
    writeFileSync(at("group", "huge.md"), "swordfish ".repeat(200_000));
    expect((await find("password swordfish", { minRelevance: 0 })).context).toBeNull();
  });
});
