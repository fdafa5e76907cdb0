import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../test/helpers/failure-of.ts";
import { readAllowlist, type AllowlistPlace } from "./load-mount-policy.ts";

let folder = "";
let places: readonly AllowlistPlace[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "glovebox-allowlist-"));
  const file = path.join(folder, "mount-allowlist.json");
  places = [{ path: file, origin: "default", name: "mount allowlist" }];
  // As an editor on Windows writes it.
  writeFileSync(file, '{\r\n  "allowedRoots": [{ "path": "~/data" }]\r\n}\r\n', { mode: 0o600 });
});
afterEach(() => rmSync(folder, { recursive: true }));

const uid = process.getuid?.() ?? null;

describe("the file of the mount allowlist", () => {
  it("is read whatever its line ends are", async () => {
    const found = await readAllowlist(places, { platform: process.platform, uid });
    expect(found?.content.allowedRoots).toMatchObject([{ path: "~/data", allowReadWrite: false }]);
  });

  it.each(["linux", "darwin"] as const)("must not be writable for others on %s", async (system) => {
    chmodSync(places[0]?.path ?? "", 0o666);
    await failureOf(readAllowlist(places, { platform: system, uid }), "INVALID_REQUEST");
  });

  it("has no such rights to be looked at on Windows, where every file seems to be everybody's", async () => {
    chmodSync(places[0]?.path ?? "", 0o666);
    expect(await readAllowlist(places, { platform: "win32", uid: null })).toMatchObject({ origin: "default" });
  });
});
