import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pruneLogs } from "./run-agent.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
beforeEach(() => void (folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const log = (day: number, more = ""): string => `container-2026-11-${10 + day}T07-00-00-005Z${more}.log`;
const prune = (maxLogs: number, current: string): Promise<void> =>
  pruneLogs({ folder: { stablePath: folder }, platform: process.platform, maxLogs, current });

describe("pruneLogs", () => {
  it("keeps the newest, the one that is being written among them", async () => {
    const names = [log(1), log(2), log(2, "-2"), log(2, "-10"), log(3)];
    for (const name of [...names, log(0)]) writeFileSync(at(name), "");
    await prune(3, log(0));
    expect(readdirSync(folder).toSorted()).toEqual([log(0), log(2, "-10"), log(3)].toSorted());
    await prune(1, log(0));
    expect(readdirSync(folder)).toEqual([log(0)]);
  });

  it("leaves alone what is no log, and what a link leads to", async () => {
    mkdirSync(at("kept"));
    writeFileSync(at("kept", "file"), "kept");
    mkdirSync(at(log(1)));
    writeFileSync(at(log(1), "inside"), "kept");
    symlinkSync("kept/file", at(log(2)));
    symlinkSync("kept", at(log(3)));
    for (const name of ["container-notes.log", "container-2026.log", `x${log(4)}`]) writeFileSync(at(name), "");
    await prune(1, log(9));
    expect(readdirSync(folder).toSorted()).toEqual(
      ["container-notes.log", "container-2026.log", `x${log(4)}`, "kept", log(1)].toSorted(),
    );
    expect(readFileSync(at("kept", "file"), "utf8")).toBe("kept");
    expect(readFileSync(at(log(1), "inside"), "utf8")).toBe("kept");
  });

  it("does nothing where the folder is gone", async () => {
    await expect(
      pruneLogs({ folder: { stablePath: at("absent") }, platform: process.platform, maxLogs: 1, current: log(1) }),
    ).resolves.toBeUndefined();
  });
});
