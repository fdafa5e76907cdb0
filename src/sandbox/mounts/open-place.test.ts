import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPlace, type OpenPlace } from "./open-place.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
const text = async (place: OpenPlace, maxBytes = 1000): Promise<string | null> => {
  const bytes = await place.readFile(maxBytes);
  return bytes === null ? null : Buffer.from(bytes).toString();
};

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  mkdirSync(at("inside"));
  mkdirSync(at("outside"));
  writeFileSync(at("inside", "a.txt"), "inside");
  writeFileSync(at("outside", "a.txt"), "outside");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The way of Linux and, on the same files, that of systems whose kernel tells no path of what is open. */
const ways = (["linux", "darwin"] as const).filter((way) => way !== "linux" || process.platform === "linux");

async function open(name: string, way: NodeJS.Platform): Promise<OpenPlace> {
  const place = await openPlace(name, way);
  if (place === null) throw new Error(`${name} changed while it was opened.`);
  return place;
}

it("says that a place on Windows is whom programs are by default, for whom root is nobody", async () => {
  await using place = await open(at("inside"), "win32");
  expect([place.platform, place.owner]).toEqual(["win32", { uid: 1000, gid: 1000 }]);
});

describe.each(ways)("openPlace as on %s", (way) => {
  it("tells where links lead, and what is there", async () => {
    symlinkSync(at("outside"), at("inside", "link"));
    await using file = await open(at("inside", "link", "a.txt"), way);
    expect(file).toMatchObject({ realPath: at("outside", "a.txt"), kind: "file" });
    expect(await text(file)).toBe("outside");
    await using place = await open(at("inside", "link"), way);
    expect(place).toMatchObject({ realPath: at("outside"), kind: "folder" });
  });

  it("reads what was opened after its name leads elsewhere", async () => {
    symlinkSync(at("inside", "a.txt"), at("name"));
    await using place = await open(at("name"), way);
    unlinkSync(at("name"));
    symlinkSync(at("outside", "a.txt"), at("name"));
    expect(place.realPath).toBe(at("inside", "a.txt"));
    expect(await text(place)).toBe("inside");
    expect(await place.isStillThere()).toBe(true);
  });

  it("notices that a folder on the way, or the place itself, was swapped, and still reads what was opened", async () => {
    await using place = await open(at("inside", "a.txt"), way);
    expect(await place.isStillThere()).toBe(true);
    renameSync(at("inside"), at("moved"));
    symlinkSync(at("outside"), at("inside"));
    expect(await place.isStillThere()).toBe(false);
    expect(await text(place)).toBe("inside");
    unlinkSync(at("inside"));
    expect(await place.isStillThere()).toBe(false);
    mkdirSync(at("inside"));
    writeFileSync(at("inside", "a.txt"), "another");
    expect(await place.isStillThere()).toBe(false);
  });

  it("notices a file that is gone", async () => {
    await using place = await open(at("inside", "a.txt"), way);
    unlinkSync(at("inside", "a.txt"));
    expect(await place.isStillThere()).toBe(false);
  });

  it("reads no more than it is told, and exactly as much as that", async () => {
    await using place = await open(at("inside", "a.txt"), way);
    expect(await text(place, 6)).toBe("inside");
    expect(await text(place, 5)).toBeNull();
  });

  it("cannot tell a hard link from its file: both are the file", async () => {
    linkSync(at("outside", "a.txt"), at("inside", "hard"));
    await using place = await open(at("inside", "hard"), way);
    expect(place.realPath).toBe(at("inside", "hard"));
  });

  it("rejects with what the system says", async () => {
    await expect(openPlace(at("nowhere"), way)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(openPlace(at("inside", "a.txt", "x"), way)).rejects.toMatchObject({ code: "ENOTDIR" });
    symlinkSync("loop", at("loop"));
    await expect(openPlace(at("loop"), way)).rejects.toMatchObject({ code: "ELOOP" });
  });

  it("does not wait at a pipe", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    await using place = await open(at("pipe"), way);
    expect(place.kind).toBe("other");
  });
});

describe.runIf(process.platform === "linux")("openPlace on Linux", () => {
  it("is not taken in by names of the kernel for what has no path", async () => {
    expect(await openPlace("/proc/self/fd/1", "linux").catch(() => null)).toBeNull();
  });

  it("tells the real place behind the kernel's links", async () => {
    await using place = await open(`/proc/self/root${at("outside", "a.txt")}`, "linux");
    expect(place.realPath).toBe(at("outside", "a.txt"));
  });

  it("a file that is really called (deleted) is one", async () => {
    writeFileSync(at("inside", "x (deleted)"), "odd");
    await using place = await open(at("inside", "x (deleted)"), "linux");
    expect(await text(place)).toBe("odd");
  });
});
