import { describe, expect, it } from "vitest";
import { defaultLimits } from "./limits.ts";
import { divideScratch } from "./scratch.ts";
import { sessionProfile } from "./session-profile.ts";

describe("sessionProfile", () => {
  const limits = defaultLimits.session;
  const profile = sessionProfile({ image: "i", limits, scratchStorage: "memory", minIsolation: "container" });

  it("takes the room of all folders out of the same whole", () => {
    const sum = (places: readonly { readonly sizeBytes: number }[]): number =>
      places.reduce((bytes, place) => bytes + place.sizeBytes, 0);
    expect(profile.scratch.places.map(({ path }) => path)).toEqual(["/work", "/code", "/packages", "/tmp"]);
    expect(sum(profile.scratch.places)).toBe(sum(divideScratch(limits, "memory").places));
  });

  it("has a home of its own in place of the working folder, of the same size", () => {
    const options = { image: "i", limits, scratchStorage: "memory", minIsolation: "container" } as const;
    const homely = sessionProfile({ ...options, home: "/home/user" });
    const sizeOf = ({ scratch }: typeof profile, wanted: string): number | undefined =>
      scratch.places.find(({ path }) => path === wanted)?.sizeBytes;
    expect(sizeOf(homely, "/home/user")).toBe(sizeOf(profile, "/work"));
    expect(sizeOf(homely, "/work")).toBeUndefined();
    expect(homely).toMatchObject({ workingDirectory: "/home/user", environment: { HOME: "/home/user" } });
  });

  it("has no network by itself, and a folder for packages", () => {
    expect(profile.network).toEqual({ kind: "none" });
    expect(profile.environment).toMatchObject({ BUN_INSTALL_CACHE_DIR: "/packages", HOME: "/tmp" });
  });
});
