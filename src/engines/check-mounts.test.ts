import { mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { checkMounts } from "./guarded-engine.ts";
import type { MountSpec } from "./container-spec.ts";

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), "glovebox-mounts-")));
  await writeFile(path.join(folder, "file"), "");
  await symlink(folder, path.join(folder, "link"));
});

function check(mounts: readonly MountSpec[], hostPaths = true): Promise<void> {
  const scratch = [{ path: "/work", sizeBytes: 4096 }];
  return checkMounts({ mounts, scratch }, { engine: "docker", capabilities: { hostPaths } });
}

function mount(changes: Partial<MountSpec>): MountSpec {
  return { source: folder, target: "/data", readOnly: true, ...changes };
}

describe("checkMounts", () => {
  it("accepts folders and files at places of their own, also below scratch", async () => {
    const file = mount({ source: path.join(folder, "file"), target: "/work/file" });
    await expect(check([mount({}), file])).resolves.toBeUndefined();
  });

  it.each(["data", "/", "/data/", "/a/../b", "/proc/x", "/sys", "/dev/shm", "/etc/passwd", "/work", "/a\0b"])(
    "refuses target %j",
    async (target) => {
      await expect(check([mount({ target })])).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    },
  );

  it("refuses two at one place", async () => {
    await expect(check([mount({}), mount({})])).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });

  it.each([
    ["missing", "NOT_FOUND"],
    ["link", "PERMISSION_DENIED"],
    ["link/file", "PERMISSION_DENIED"],
    ["../", "PERMISSION_DENIED"],
  ])("refuses source %s", async (name, errorType) => {
    const error = await check([mount({ source: `${folder}/${name}` })]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ errorType, context: { target: "/data" } });
    expect((error as Error).message).not.toContain(folder);
  });

  it("refuses a relative source", async () => {
    await expect(check([mount({ source: "." })])).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });

  it("refuses every mount where the engine cannot have files of this machine", async () => {
    await expect(check([mount({})], false)).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
      context: { engine: "docker", missing: "hostPaths" },
    });
    await expect(check([], false)).resolves.toBeUndefined();
  });

  it("lets it have a copy of what never changes, when nobody may write there", async () => {
    const fixed = mount({ unchanging: true });
    await expect(check([fixed], false)).resolves.toBeUndefined();
    await expect(check([mount({ unchanging: true, readOnly: false })], false)).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
    });
    await expect(check([fixed, mount({ target: "/other" })], false)).rejects.toMatchObject({
      errorType: "UNSUPPORTED",
    });
    await expect(check([mount({ unchanging: true, target: "/work/set" })], false)).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
    });
  });
});
