import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPlace, type OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { enterFolder, enterIfThere } from "./agent-folders.ts";

const { platform } = process;
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
let folder = "";
let parent: OpenPlace;
const at = (...names: string[]): string => path.join(folder, ...names);

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(at("group", "there"), { recursive: true });
  mkdirSync(at("other", "logs"), { recursive: true });
  const opened = await openPlace(at("group"), platform);
  if (opened === null) throw new Error("The folder changed.");
  parent = opened;
});
afterEach(async () => {
  await parent[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function enter(name: string, make: typeof owner | null = owner): Promise<string> {
  await using place = await enterFolder(parent, name, { platform, shownAs: `groups/x/${name}`, make });
  return place.realPath;
}

const refusedAs = (rule: string): unknown =>
  expect.objectContaining({ errorType: "POLICY_DENIED", context: expect.objectContaining({ rule }) });

describe("enterFolder", () => {
  it("opens what is there and makes what is not", async () => {
    expect(await enter("there")).toBe(at("group", "there"));
    expect(await enter("logs")).toBe(at("group", "logs"));
    expect(statSync(at("group", "logs")).isDirectory()).toBe(true);
  });

  it.runIf(owner.uid === 0)(
    "gives what it makes to its owner where Glovebox is root, and knows that it has",
    async () => {
      const make = { uid: 4321, gid: 4322 };
      await using place = await enterFolder(parent, "made", { platform, shownAs: "made", make });
      expect(place.owner).toEqual(make);
      expect(statSync(at("group", "made"))).toMatchObject(make);
    },
  );

  it("says what is missing where nothing may be made, and that it is none of somebody's", async () => {
    await expect(enter("absent", null)).rejects.toMatchObject({
      errorType: "NOT_FOUND",
      message: "The folder groups/x/absent does not exist.",
    });
    expect(await enterIfThere(parent, "absent", { platform, shownAs: "a" })).toBeNull();
  });

  it.each([
    ["another group's folder", () => symlinkSync(at("other", "logs"), at("group", "logs"))],
    ["one beside it", () => symlinkSync("../other/logs", at("group", "logs"))],
    ["a folder of its own", () => symlinkSync("there", at("group", "logs"))],
    ["the system", () => symlinkSync("/etc", at("group", "logs"))],
    ["itself", () => symlinkSync("logs", at("group", "logs"))],
  ])("refuses a link to %s", async (_, make) => {
    make();
    await expect(enter("logs")).rejects.toEqual(refusedAs("link"));
    await expect(enter("logs", null)).rejects.toEqual(refusedAs("link"));
  });

  it("makes nothing behind a link that leads nowhere", async () => {
    symlinkSync(at("elsewhere"), at("group", "logs"));
    await expect(enter("logs")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    expect(() => statSync(at("elsewhere"))).toThrow("ENOENT");
  });

  it("refuses a file", async () => {
    writeFileSync(at("group", "logs"), "");
    await expect(enter("logs")).rejects.toEqual(refusedAs("no-folder"));
  });

  it("does not go to where its folder's name leads by then", async () => {
    renameSync(at("group"), at("moved"));
    symlinkSync(at("other"), at("group"));
    await expect(enter("logs")).rejects.toEqual(refusedAs("link"));
  });
});
