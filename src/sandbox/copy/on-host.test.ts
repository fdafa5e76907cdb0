import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it, describe } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { findOnHost, partsOf, linkTargetOnHost, modeOnHost } from "./on-host.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), "glovebox-find-"));
  mkdirSync(at("project/sub"), { recursive: true });
  mkdirSync(at("outside"));
  writeFileSync(at("outside/secret"), "secret");
});
afterEach(() => rmSync(folder, { recursive: true }));

it("finds files and folders by their real names", async () => {
  writeFileSync(at("project/sub/file"), "four");
  await using file = await findOnHost(at("project/sub/file"), process.platform);
  expect([file.name, file.stat.size]).toEqual(["file", 4]);
  await using root = await findOnHost("/", process.platform);
  expect(root.stat.isDirectory()).toBe(true);
});

it.each([
  ["a file", "project/file", "../outside/secret", "outside/secret"],
  ["a folder", "project/folder", "../outside", "outside"],
  ["a folder on the way", "project/folder", "../outside", "outside", "/secret"],
  ["nothing", "project/dangling", "../absent", "absent"],
])(
  "follows no link that was left in the place of %s, and says where it leads",
  async (_, name, to, means, below = "") => {
    symlinkSync(to, at(name));
    const refused: unknown = await findOnHost(at(name) + below, process.platform).catch((error: unknown) => error);
    expect(refused).toMatchObject({ errorType: "INVALID_REQUEST" });
    const { message, suggestion } = refused as { readonly message: string; readonly suggestion: string };
    expect(message).toContain(JSON.stringify(at(name)));
    expect(suggestion).toContain(JSON.stringify(at(means)));
  },
);

it("stays in the folder that it found when a link takes that folder's place", async () => {
  writeFileSync(at("project/sub/secret"), "mine");
  await using found = await findOnHost(at("project/sub/secret"), process.platform);
  rmSync(at("project/sub"), { recursive: true });
  symlinkSync("../outside", at("project/sub"));
  await expect(found.parent.enter(found.name)).rejects.toMatchObject({ code: "ENOENT" });
});

it("tells what is not there", async () => {
  await failureOf(findOnHost(at("project/absent"), process.platform), "NOT_FOUND");
  await failureOf(findOnHost(at("project/absent/below"), process.platform), "NOT_FOUND");
});

it("takes paths apart as each system writes them", () => {
  expect(partsOf("/home/ann/a b", path.posix)).toEqual({ root: "/", names: ["home", "ann", "a b"] });
  expect(partsOf("C:\\Users\\ann\\x", path.win32)).toEqual({ root: "C:\\", names: ["Users", "ann", "x"] });
  expect(partsOf("\\\\server\\share\\x", path.win32)).toEqual({ root: "\\\\server\\share\\", names: ["x"] });
});

const stat = (mode: number, isFolder = false) => ({ mode, isDirectory: () => isFolder });

describe("what a file of this machine is in a sandbox", () => {
  it.each(["linux", "darwin"] as const)("has its own permissions on %s, and no setuid bit", (platform) => {
    expect(modeOnHost(stat(0o104750), platform)).toBe(0o750);
    expect(modeOnHost(stat(0o040700, true), platform)).toBe(0o700);
    expect(linkTargetOnHost("a\\b", platform)).toBe("a\\b");
  });

  it("can be run and entered when it comes from Windows, which knows no such permission", () => {
    expect(modeOnHost(stat(0o100666), "win32")).toBe(0o755);
    expect(modeOnHost(stat(0o100444), "win32")).toBe(0o555);
    expect(modeOnHost(stat(0o040666, true), "win32")).toBe(0o755);
    expect(modeOnHost(stat(0o040444, true), "win32")).toBe(0o755);
    expect(linkTargetOnHost("..\\lib\\x.js", "win32")).toBe("../lib/x.js");
  });
});
