import { expect, it, describe } from "vitest";
import type { LocalEngineOptions } from "../level.ts";
import {
  openBubblewrapHost,
  namespacesUnavailable,
  countsProcessesByNamespace,
  namespacesCapabilities,
} from "./bubblewrap-host.ts";
import { assertEnforceable } from "../../assert-enforceable.ts";

it.each(["darwin", "win32"] as const)("is not there on %s, and names the engines that are", async (platform) => {
  await expect(openBubblewrapHost({ platform } as LocalEngineOptions)).rejects.toMatchObject({
    errorType: "ENGINE_UNAVAILABLE",
    message: `The embedded engine needs Linux namespaces; this is ${platform}.`,
    suggestion: expect.stringMatching(/Docker, Podman.*on macOS/),
  });
});

it("goes further on Linux, where it may be: until it is called off, or a tool is missing", async () => {
  const options = { platform: "linux", environment: {} } as LocalEngineOptions;
  await expect(openBubblewrapHost(options, AbortSignal.abort())).rejects.toMatchObject({
    errorType: expect.stringMatching(/^(?:CANCELLED|ENGINE_UNAVAILABLE)$/),
    message: expect.not.stringContaining("this is"),
  });
});

const allowed = { unprivilegedClone: "1", maxUserNamespaces: "96365", apparmorRestricts: "0" };
const absent = { unprivilegedClone: null, maxUserNamespaces: null, apparmorRestricts: null };

describe("namespacesUnavailable", () => {
  it.each([
    [{ ...allowed, maxUserNamespaces: "0" }, "max_user_namespaces"],
    [{ ...allowed, unprivilegedClone: "0" }, "unprivileged_userns_clone"],
    [{ ...allowed, apparmorRestricts: "1" }, "apparmor_restrict_unprivileged_userns"],
  ])("names the setting that forbids it and how to change it: %o", (settings, name) => {
    const error = namespacesUnavailable("unshare: Operation not permitted", settings);
    expect(error.errorType).toBe("ENGINE_UNAVAILABLE");
    expect(error.message).toContain(name);
    expect(error.suggestion).toContain(name);
  });

  it.each([
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "/proc"],
    ["unshare: unshare failed: Operation not permitted", "does not allow namespaces"],
    ["bwrap: Unknown option --clearenv", "too old"],
    ["bwrap: prctl(PR_SET_SECCOMP): Invalid argument", "seccomp"],
    ["something else", "trial"],
  ])("reads what was said: %s", (said, words) => {
    expect(namespacesUnavailable(said, absent).message).toContain(words);
  });

  it("keeps what was said out of the message, since it may name host paths", () => {
    const error = namespacesUnavailable("bwrap: Can't bind mount /home/me/secret", allowed);
    expect(JSON.stringify(error.toWire())).not.toContain("/home/me");
    expect(error.cause).toMatchObject({ message: expect.stringContaining("/home/me") });
  });
});

const everything = {
  controllers: new Set(["memory", "pids", "cpu"] as const),
  countsCpuTime: true,
  countsProcessesByNamespace: true,
  isApart: true,
  hasNode: true,
};
const nothing = {
  controllers: new Set<never>(),
  countsCpuTime: false,
  countsProcessesByNamespace: true,
  isApart: false,
  hasNode: false,
};

describe("namespacesCapabilities", () => {
  it("enforces everything with control groups", () => {
    const capabilities = namespacesCapabilities(everything);
    expect(assertEnforceable(capabilities, { engine: "local", minIsolation: "namespaces" }).warnings).toEqual([]);
    expect(capabilities.oomReporting).toBe(true);
    expect(capabilities).not.toHaveProperty("limitsAdvice");
  });

  it("names what stands in for them without", () => {
    const capabilities = namespacesCapabilities(nothing);
    expect(capabilities).toMatchObject({ cpuLimit: "no", oomReporting: true, cpuReporting: false });
    expect(capabilities.limitsAdvice).toMatch(/Delegate=yes/);
    const { warnings } = assertEnforceable(capabilities, {
      engine: "local",
      minIsolation: "namespaces",
      optional: ["cpuLimit"],
    });
    expect(warnings).toHaveLength(4);
  });

  it("says in every result where programs share the supervisor's user", () => {
    expect(namespacesCapabilities(everything)).toMatchObject({ supervisor: "apart" });
    expect(namespacesCapabilities(everything)).not.toHaveProperty("notes");
    const shared = namespacesCapabilities({ ...everything, isApart: false });
    expect(shared).toMatchObject({ supervisor: "shared", notes: [expect.stringContaining("can end others")] });
  });

  it("has Node beside Bun where the host has it", () => {
    expect(namespacesCapabilities(everything)).not.toHaveProperty("javascript");
    expect(namespacesCapabilities(nothing).javascript).toBe("bun");
  });

  it("says of each controller by itself", () => {
    const controllers = new Set(["pids"] as const);
    expect(namespacesCapabilities({ ...everything, controllers })).toMatchObject({
      pidsLimit: "yes",
      cpuLimit: "no",
      memoryLimit: { substitute: expect.any(String) },
    });
  });

  it("has no limit of processes where the kernel would count the user's others, too", () => {
    expect(namespacesCapabilities({ ...nothing, countsProcessesByNamespace: false }).pidsLimit).toBe("no");
  });
});

describe("countsProcessesByNamespace", () => {
  it.each([
    ["5.13.19-generic", false],
    ["5.14.0-1-amd64", true],
    ["6.1.0", true],
    ["4.19.0", false],
    ["5.4.300", false],
    ["", false],
  ])("%s: %s", (release, expected) => {
    expect(countsProcessesByNamespace(release)).toBe(expected);
  });
});
