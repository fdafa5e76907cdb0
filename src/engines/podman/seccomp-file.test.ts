import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeSeccompFile } from "./podman-engine.ts";

const profile = { defaultAction: "SCMP_ACT_ERRNO" };

describe("writeSeccompFile", () => {
  let parent: string;
  beforeEach(async () => void (parent = await mkdtemp(path.join(tmpdir(), "seccomp-file-"))));
  afterEach(() => rm(parent, { recursive: true }));

  it("writes the profile once, under a name of its content", async () => {
    const folder = path.join(parent, "a", "b");
    const [first, again, other] = await Promise.all([
      writeSeccompFile({ folder, profile }),
      writeSeccompFile({ folder, profile }),
      writeSeccompFile({ folder, profile: {} }),
    ]);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(JSON.parse(await readFile(first, "utf8"))).toEqual(profile);
    expect(await readdir(folder)).toHaveLength(2);
  });

  it("replaces a file that holds anything else", async () => {
    const file = await writeSeccompFile({ folder: parent, profile });
    await writeFile(file, "{}");
    expect(await writeSeccompFile({ folder: parent, profile })).toBe(file);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual(profile);
  });

  it("refuses to go on without it", async () => {
    await writeFile(path.join(parent, "file"), "");
    const folder = path.join(parent, "file", "folder");
    await expect(writeSeccompFile({ folder, profile })).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
      message: expect.not.stringContaining(parent),
    });
  });
});
