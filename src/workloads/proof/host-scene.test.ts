import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openHostScene, type HostScene } from "./host-scene.ts";

const peers = mkdtempSync(path.join(os.tmpdir(), "glovebox-scene-"));
afterAll(() => rmSync(peers, { recursive: true }));
writeFileSync(path.join(peers, "own-1"), "");

const planted: string[] = [];
const open = (platform: NodeJS.Platform, peerFolder = peers): Promise<HostScene> =>
  openHostScene({
    ...{
      platform,
      peerFolder,
      hostName: "here",
      addresses: { ipv4: ["192.0.2.1"], ipv6: [] },
      temporaryDirectory: os.tmpdir(),
    },
    plantVariable: (value) => {
      planted.push(value);
      return { [Symbol.dispose]: () => void planted.pop() };
    },
  });

describe("what attacks look for", () => {
  it.runIf(process.platform === "linux")("is there while it is open, and gone after it", async () => {
    const scene = await open("linux");
    const { secret, hostFile, processNumber } = scene.parameters;
    expect(planted).toEqual([secret]);
    expect(existsSync(String(hostFile))).toBe(true);
    expect(process.kill(Number(processNumber), 0)).toBe(true);
    expect(scene.parameters).toMatchObject({ peerSocket: path.join(peers, "own-1"), hostName: "here" });
    expect(Object.keys(scene.parameters)).toEqual(expect.arrayContaining(["abstractName", "bootNumber"]));
    await scene[Symbol.asyncDispose]();
    expect(planted).toEqual([]);
    expect(existsSync(String(hostFile))).toBe(false);
  });

  const hasIpc = process.platform === "linux" && existsSync("/usr/bin/ipcmk") && existsSync("/usr/bin/ipcrm");
  it.runIf(hasIpc)("is gone also where a part of it cannot be taken away", async () => {
    const scene = await open("linux");
    const { hostFile, memoryKey } = scene.parameters;
    execFileSync("/usr/bin/ipcrm", ["--shmem-key", String(memoryKey)]);
    await expect(scene[Symbol.asyncDispose]()).rejects.toThrow("ipcrm");
    expect(existsSync(String(hostFile))).toBe(false);
    expect(planted).toEqual([]);
  });

  it.each([
    ["darwin", ["processMark"], ["abstractName", "bootNumber", "memoryKey"]],
    ["win32", ["hostFile", "servicePort"], ["processMark", "abstractName", "bootNumber"]],
  ] as const)("is on %s what that system has", async (platform, there, missing) => {
    await using scene = await open(platform, "/nowhere");
    expect(Object.keys(scene.parameters)).toEqual(expect.arrayContaining([...there]));
    for (const name of [...missing, "peerSocket"]) expect(scene.parameters).not.toHaveProperty(name);
  });
});
