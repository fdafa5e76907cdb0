import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { clearByPath } from "./clear-by-path.ts";

let folder = "";
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-größe-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const ownerUid = process.getuid?.() ?? 0;

it.runIf(process.platform !== "win32").each(["darwin", "linux"] as const)(
  "takes the bit by whole paths, which may hold any letter, and not of another user's file, as on %s",
  async (platform) => {
    for (const name of ["ä", "b"]) {
      writeFileSync(path.join(folder, name), "");
      chmodSync(path.join(folder, name), 0o4755);
    }
    expect((await clearByPath(folder, { ownerUid: ownerUid + 1, platform })).count).toBe(0);
    expect((await clearByPath(folder, { ownerUid, platform })).count).toBe(2);
    expect(["ä", "b"].map((name) => lstatSync(path.join(folder, name)).mode & 0o7777)).toEqual([0o755, 0o755]);
  },
);

it.runIf(process.platform !== "win32")("passes by what is a link by then", async () => {
  writeFileSync(path.join(folder, "real"), "");
  chmodSync(path.join(folder, "real"), 0o4755);
  renameSync(path.join(folder, "real"), path.join(folder, "..", path.basename(folder) + "-outside"));
  const outside = path.join(folder, "..", path.basename(folder) + "-outside");
  try {
    symlinkSync(outside, path.join(folder, "real"));
    expect((await clearByPath(folder, { ownerUid, platform: "darwin" })).count).toBe(0);
    expect(lstatSync(outside).mode & 0o4000).toBe(0o4000);
  } finally {
    rmSync(outside);
  }
});
