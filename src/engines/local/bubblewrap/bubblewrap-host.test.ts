import { expect, it, describe } from "vitest";
import type { LocalEngineOptions } from "../local-engine-options.ts";
import { openBubblewrapHost, namespacesUnavailable } from "./bubblewrap-host.ts";

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
