import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../engines/capabilities.ts";
import { setuidWarnings, type HostMount } from "./host-mount.ts";

const mounts = (platform: NodeJS.Platform, readOnly = false): readonly HostMount[] => [
  { place: { platform } as HostMount["place"], target: "/workspace/group", readOnly, shownAs: "groups/family" },
];
const of = (setuidRefusal: Capabilities["setuidRefusal"]): Parameters<typeof setuidWarnings>[1] => ({
  capabilities: { setuidRefusal } as Capabilities,
  engine: "apple",
  words: { subject: "agent", folders: "the folders" },
});
const watch = { substitute: "a watch" };

describe("setuid bits in folders of this machine", () => {
  it.each(["linux", "darwin", "win32"] as const)(
    "are taken by a watch on %s where no filter refuses them",
    (system) => {
      expect(setuidWarnings(mounts(system), of(watch))).toEqual([expect.stringContaining("by a watch.")]);
      expect(setuidWarnings(mounts(system), of("yes"))).toEqual([]);
    },
  );

  it("refuse the engine where nothing takes them, unless all is read-only", () => {
    const refused = expect.objectContaining({ errorType: "UNSUPPORTED" });
    expect(() => setuidWarnings(mounts("linux"), of("no"))).toThrow(refused);
    expect(() => setuidWarnings(mounts("freebsd"), of(watch))).toThrow(refused);
    expect(setuidWarnings(mounts("freebsd", true), of("no"))).toEqual([]);
  });
});
