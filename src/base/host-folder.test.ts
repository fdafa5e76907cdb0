import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HostFolder } from "./host-folder.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), "glovebox-folder-"));
  mkdirSync(at("project", "sub"), { recursive: true });
  mkdirSync(at("outside"));
  writeFileSync(at("project", "sub", "file"), "mine");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The way of Linux and, on the same files, that of systems whose folders cannot be held open. */
const ways = (["linux", "darwin", "win32"] as const).filter((way) => way !== "linux" || process.platform === "linux");

describe.each(ways)("HostFolder as on %s", (way) => {
  it("leads down to names, and knows what it is on", async () => {
    await using project = await HostFolder.open(at("project"), way);
    await using sub = await project.enter("sub");
    expect(readFileSync(sub.at("file"), "utf8")).toBe("mine");
    expect([project.platform, sub.platform]).toEqual([way, way]);
  });

  it("enters neither links nor files", async () => {
    symlinkSync(at("outside"), at("project", "link"));
    await using project = await HostFolder.pass(at("project"), way);
    await expect(project.enter("link")).rejects.toMatchObject({ code: "ENOTDIR" });
    await using sub = await project.enter("sub");
    await expect(sub.enter("file")).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("makes a folder once", async () => {
    await using project = await HostFolder.of({ stablePath: at("project") }, way);
    expect([await project.make("new", 0o755), await project.make("new", 0o755)]).toEqual([true, false]);
  });
});
