import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { OpenHostPlace, type HostPlaces } from "./host-place.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), "glovebox-place-"));
  mkdirSync(path.join(folder, "work", "sub"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const places = (platform: NodeJS.Platform): HostPlaces => ({
  places: [{ inside: "/work", here: path.join(folder, "work"), readOnly: false }],
  platform,
  assertLiving: () => Promise.resolve(),
});

/** The way of Linux and, on the same files, that of systems whose folders cannot be held open. */
const ways = (["linux", "darwin"] as const).filter((way) => way !== "linux" || process.platform === "linux");

describe.each(ways)("a sandbox's folder on this machine as on %s", (way) => {
  it("is found by its name inside and by the one here", async () => {
    for (const name of ["/work/sub/file", path.join(folder, "work", "sub", "file")]) {
      await using place = await OpenHostPlace.open(places(way), name);
      expect(place.names).toEqual(["sub", "file"]);
    }
    await failureOf(OpenHostPlace.open(places(way), "/etc/passwd"), "NOT_FOUND");
  });

  it("leads through no link, and is none itself", async () => {
    symlinkSync("/etc", path.join(folder, "work", "link"));
    await using place = await OpenHostPlace.open(places(way), "/work/link/passwd");
    await failureOf(place.enter(["link"]), "INVALID_REQUEST");
    rmSync(path.join(folder, "work"), { recursive: true });
    symlinkSync("/etc", path.join(folder, "work"));
    await failureOf(OpenHostPlace.open(places(way), "/work/passwd"), "INVALID_REQUEST");
  });
});
