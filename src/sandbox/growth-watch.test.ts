import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPlace, type OpenPlace } from "./mounts/open-place.ts";
import { GrowthWatch, type Grown } from "./growth-watch.ts";

const mb = 1024 * 1024;
const timeout = 60_000;
/** A walk is followed by a rest that is longer on a slow machine. */
const waiting = { timeout: 30_000, interval: 500 };
/** A file system that other tests leave alone: what is free there counts. */
const quiet = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

describe.skipIf(process.platform !== "linux")("GrowthWatch", { timeout }, () => {
  let folder: string;
  let project: string;
  let place: OpenPlace;
  let watch: GrowthWatch;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(quiet, "glovebox-growth-"));
    project = path.join(folder, "project");
    mkdirSync(project);
    writeFileSync(path.join(project, "before"), Buffer.alloc(40 * mb, 1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const opened = await openPlace(project, process.platform);
    if (opened === null) throw new Error("The project was not opened.");
    place = opened;
    const { execPath: executable, platform } = process;
    const limits = { bytes: 24 * mb, files: 8_000 };
    watch = new GrowthWatch({ place, limits, executable, platform, now: Date.now });
  });
  afterEach(async () => {
    await place[Symbol.asyncDispose]();
    execFileSync("rm", ["-rf", folder]);
  });

  const put = (name: string | Buffer, megabytes: number): void =>
    writeFileSync(typeof name === "string" ? path.join(project, name) : name, Buffer.alloc(megabytes * mb, 2));
  const look = (): Promise<Grown> => watch.look(true, { freed: 0, signal: new AbortController().signal });

  const megabytes = async (): Promise<number> => Math.round((await look()).bytes / mb);

  it("tells the growth, without what was there, and without what came while nothing ran", async () => {
    await watch.note(false);
    put("a", 10);
    const { bytes, grows } = await look();
    expect(grows).toBe(true);
    expect(Math.round(bytes / mb)).toBe(10);
    put("owner", 50);
    await watch.note(false);
    put("b", 9);
    await expect.poll(megabytes, waiting).toBeGreaterThanOrEqual(19);
    // What others write to the same disk meanwhile is not told apart; the owner's 50 MB are.
    expect(await megabytes()).toBeLessThan(45);
  });

  it("does not take what ended work has left for the doing of what comes after it", async () => {
    await watch.note(false);
    put("a", 30);
    expect(await look()).toMatchObject({ grows: true });
    put("last", 20);
    await watch.note(true);
    await watch.settle(new AbortController().signal);
    await watch.note(false);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { bytes, grows } = await look();
    expect(grows).toBe(false);
    expect(Math.round(bytes / mb)).toBe(50);
  });

  it("sees files of any name, in paths of any length, and does not follow links", async () => {
    await watch.note(false);
    put(Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xff, 0xfe])]), 8);
    const deep = `import os
os.chdir(${JSON.stringify(project)})
for n in range(60):
    os.mkdir("d" * 200); os.chdir("d" * 200)
open("big", "wb").write(b"x" * ${8 * mb})`;
    execFileSync("python3", ["-c", deep]);
    mkdirSync(path.join(folder, "outside"));
    writeFileSync(path.join(folder, "outside/big"), Buffer.alloc(20 * mb, 3));
    symlinkSync(path.join(folder, "outside"), path.join(project, "link"));
    execFileSync("mkfifo", [path.join(project, "fifo")]);
    const { bytes } = await look();
    expect(Math.round(bytes / mb)).toBe(16);
  });

  it("counts what is allocated, and each file once", async () => {
    await watch.note(false);
    put("one", 8);
    expect(Math.round((await look()).bytes / mb)).toBe(8);
    const sparse = openSync(path.join(project, "sparse"), "w");
    ftruncateSync(sparse, 10_000 * mb);
    closeSync(sparse);
    for (let count = 0; count < 5; count += 1) linkSync(path.join(project, "one"), path.join(project, `link-${count}`));
    put("two", 7);
    await expect.poll(megabytes, waiting).toBe(15);
  });

  it("counts files that have nothing in them, and folders", async () => {
    await watch.note(false);
    for (let count = 0; count < 1_500; count += 1) {
      mkdirSync(path.join(project, String(count)));
      writeFileSync(path.join(project, String(count), "empty"), "");
    }
    const { files, grows } = await look();
    expect(grows).toBe(true);
    expect(files).toBeGreaterThanOrEqual(3_000);
    expect(files).toBeLessThan(3_100);
  });

  it("counts all that has gone from the disk where a tree is too deep to be walked through", async () => {
    await watch.note(false);
    const deep = `import os
os.chdir(${JSON.stringify(project)})
for n in range(1100):
    os.mkdir("d"); os.chdir("d")
open("big", "wb").write(b"x" * ${12 * mb})`;
    execFileSync("python3", ["-c", deep]);
    const { bytes } = await look();
    expect(bytes).toBeGreaterThanOrEqual(12 * mb);
  });

  it("walks no other folder that has taken the project's name", async () => {
    await watch.note(false);
    put("a", 12);
    execFileSync("mv", [project, `${project}-moved`]);
    mkdirSync(project);
    const { bytes } = await look();
    // What has gone counts, as for each tree that cannot be walked through.
    expect(bytes).toBeGreaterThanOrEqual(12 * mb);
    expect(bytes).toBeLessThan(100 * mb);
  });

  it("finds what a folder that was empty has got while others freed as much on the same disk", async () => {
    const own = path.join(folder, "own");
    mkdirSync(own);
    let nowMs = Date.now();
    const { execPath: executable, platform } = process;
    const limits = { bytes: 24 * mb, files: 8_000 };
    const options = { place: { stablePath: own, realPath: own }, limits, executable, platform, now: () => nowMs };
    const empty = new GrowthWatch({ ...options, startsEmpty: true });
    put("more", 8);
    await empty.note(false);
    writeFileSync(path.join(own, "hidden"), Buffer.alloc(40 * mb, 4));
    rmSync(path.join(project, "before"));
    const lookAgain = (): Promise<Grown> => empty.look(true, { freed: 0, signal: new AbortController().signal });
    expect((await lookAgain()).bytes).toBe(0);
    nowMs += 11_000;
    const { bytes, grows } = await lookAgain();
    expect(grows).toBe(true);
    expect(Math.round(bytes / mb)).toBe(40);
    writeFileSync(path.join(own, "later"), Buffer.alloc(8 * mb, 5));
    rmSync(path.join(project, "more"));
    const lookWhileIdle = (): Promise<Grown> => empty.look(false, { freed: 0, signal: new AbortController().signal });
    nowMs += 30_000;
    expect(await lookWhileIdle()).toMatchObject({ grows: false });
    nowMs += 31_000;
    expect(Math.round((await lookWhileIdle()).bytes / mb)).toBe(48);
  });
});
