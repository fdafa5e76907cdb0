import { describe, expect, it } from "vitest";
import { defaultLimits } from "./limits.ts";
import { executeProfile } from "./profile.ts";
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
