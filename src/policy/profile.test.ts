import { describe, expect, it } from "vitest";
import { defaultLimits } from "./limits.ts";
import { executeProfile, sessionProfile } from "./profile.ts";
import { divideScratch } from "./scratch.ts";

const options = {
  image: "python:3.12-slim",
  limits: defaultLimits.execute,
  scratchStorage: "memory",
  minIsolation: "container",
  network: { kind: "none" },
} as const;

describe("executeProfile", () => {
  it("is sealed: no network, no root, scratch only", () => {
    expect(executeProfile(options)).toEqual({
      kind: "execute",
      image: "python:3.12-slim",
      limits: defaultLimits.execute,
      scratch: divideScratch(defaultLimits.execute, "memory"),
      environment: { HOME: "/tmp", LANG: "C.UTF-8" },
      processUser: "65527:65527",
      workingDirectory: "/work",
      network: { kind: "none" },
      minIsolation: "container",
    });
  });

  it("prefers the request's variables to the allowlisted ones and those to its own", () => {
    const { environment } = executeProfile({
      ...options,
      hostEnvironment: { LANG: "de", TOKEN: "host", ZONE: "host" },
      environment: { TOKEN: "request" },
    });
    expect(environment).toEqual({ HOME: "/tmp", LANG: "de", TOKEN: "request", ZONE: "host" });
  });

  it("puts the working folder and HOME into scratch", () => {
    const profile = executeProfile(options);
    const places = profile.scratch.places.map((place) => place.path);
    expect(places).toContain(profile.workingDirectory);
    expect(places).toContain(profile.environment["HOME"]);
  });
});

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
