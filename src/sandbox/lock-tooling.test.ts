import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GloveboxError } from "../errors/glovebox-error.ts";
import { openPlace, type OpenPlace } from "./mounts/open-place.ts";
import { lockTooling } from "./lock-tooling.ts";

describe.skipIf(process.platform === "win32")("lockTooling", () => {
  let project: string;
  let place: OpenPlace;
  beforeEach(async () => {
    project = mkdtempSync(path.join(tmpdir(), "glovebox-locks-"));
    place = (await openPlace(project, process.platform)) as OpenPlace;
  });
  afterEach(async () => {
    await place[Symbol.asyncDispose]();
    rmSync(project, { recursive: true });
  });

  const put = (name: string): void => {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), "");
  };
  const locks = async (...morePaths: string[]): Promise<readonly string[]> => {
    const mounts = await lockTooling({ place, platform: process.platform, morePaths }, "/workdir");
    return mounts.map(({ target, readOnly }) => `${readOnly ? "ro" : "rw"} ${target}`);
  };

  it("mounts each folder above a locked file onto itself, and before what lies in it", async () => {
    put(".npmrc");
    put("a/b/.git/config");
    put(".yarn/releases/yarn.cjs");
    put("tools/deep/hooks/pre-commit");
    expect(await locks("tools/deep/hooks")).toEqual([
      "ro /workdir/.npmrc",
      "rw /workdir/.yarn",
      "rw /workdir/tools",
      "rw /workdir/a",
      "ro /workdir/.yarn/releases",
      "rw /workdir/tools/deep",
      "rw /workdir/a/b",
      "ro /workdir/tools/deep/hooks",
      "rw /workdir/a/b/.git",
      "ro /workdir/a/b/.git/config",
    ]);
  });

  it("mounts nothing that lies in a locked folder, and no link or folder above one", async () => {
    put(".vscode/deep/tasks.json");
    mkdirSync(path.join(project, "x"));
    symlinkSync("/etc", path.join(project, "x/hooks"));
    expect(await locks("x/hooks", ".vscode/deep/tasks.json")).toEqual(["ro /workdir/.vscode"]);
  });

  it("counts the folders above to the limit", async () => {
    const paths = Array.from({ length: 50 }, (_, at) => `d${at}/e/hooks`);
    for (const each of paths) put(each);
    const failed = await locks(...paths).catch((error: unknown) => error as GloveboxError);
    expect(failed).toMatchObject({
      errorType: "INVALID_REQUEST",
      message: expect.stringContaining("150 files and folders"),
    });
  });
});
