import { describe, expect, it } from "vitest";
import { findPodmanEndpoint, type FindPodmanOptions } from "./find-podman-endpoint.ts";

function find(present: readonly string[], options: Partial<FindPodmanOptions> = {}): Promise<unknown> {
  return findPodmanEndpoint({
    environment: { HOME: "/home/me", XDG_RUNTIME_DIR: "/run/user/7" },
    platform: "linux",
    uid: 7,
    files: { exists: (path) => Promise.resolve(present.includes(path)) },
    ...options,
  });
}

const rootful = "/run/podman/podman.sock";
const rootless = "/run/user/7/podman/podman.sock";

describe("findPodmanEndpoint", () => {
  it("goes by CONTAINER_HOST first", async () => {
    const origin = "CONTAINER_HOST";
    const at = (address: string): Promise<unknown> => find([rootful], { environment: { CONTAINER_HOST: address } });
    expect(await at("unix:///x.sock")).toEqual({ kind: "socket", path: "/x.sock", origin });
    expect(await at("tcp://box:99")).toEqual({ kind: "tcp", host: "box", port: 99, tls: null, origin });
    expect(await at("npipe:////./pipe/other")).toEqual({ kind: "socket", path: "//./pipe/other", origin });
  });

  it("says how to do without SSH, and refuses what is no address", async () => {
    const at = (address: string): Promise<unknown> => find([], { environment: { CONTAINER_HOST: address } });
    await expect(at("ssh://core@localhost:4000/run/podman/podman.sock")).rejects.toMatchObject({
      errorType: "ENGINE_UNAVAILABLE",
      message: expect.stringMatching(/CONTAINER_HOST.*SSH/),
      suggestion: expect.stringMatching(
        /ssh -nNT -L \/tmp\/podman\.sock:.*CONTAINER_HOST=unix:\/\/\/tmp\/podman\.sock/,
      ),
    });
    await expect(at("unix://x")).rejects.toMatchObject({ errorType: "ENGINE_UNAVAILABLE" });
  });

  it.each([
    ["a user's own service before the system's", [rootless, rootful], {}, rootless],
    ["the system's when there is no other", [rootful], {}, rootful],
    ["a user's own when there is none at all", [], {}, rootless],
    ["the user's folder by its number", [], { environment: {} }, rootless],
    ["root's, whatever the environment says", [rootless], { uid: 0 }, rootful],
    [
      "Podman 5's machine",
      [],
      { platform: "darwin", environment: { HOME: "/Users/me", TMPDIR: "/var/folders/x/T/" } },
      "/var/folders/x/T/podman/podman-machine-default-api.sock",
    ],
    [
      "Podman 4's machine",
      ["/Users/me/.local/share/containers/podman/machine/qemu/podman.sock"],
      { platform: "darwin", environment: { HOME: "/Users/me" } },
      "/Users/me/.local/share/containers/podman/machine/qemu/podman.sock",
    ],
    ["the machine's pipe", [], { platform: "win32", uid: null }, "//./pipe/podman-machine-default"],
  ] as const)("finds %s", async (_, present, options, path) => {
    expect(await find(present, options)).toEqual({ kind: "socket", path, origin: "the default socket" });
  });
});
