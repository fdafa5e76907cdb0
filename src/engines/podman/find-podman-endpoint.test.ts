import { describe, expect, it } from "vitest";
import { findPodmanEndpoint, explainPodmanFailure, type FindPodmanOptions } from "./find-podman-endpoint.ts";

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

const socket = { origin: "the default socket", kind: "socket" } as const;
const tcp = { origin: "CONTAINER_HOST", kind: "tcp" } as const;

describe("explainPodmanFailure", () => {
  it.each([
    [
      "linux",
      0,
      { ...socket, code: "ENOENT" },
      /not running or not installed/,
      /systemctl start podman\.socket.*system service.*install/,
    ],
    ["linux", 7, { ...socket, code: "ECONNREFUSED" }, /nothing answers/, /systemctl --user start podman\.socket/],
    ["linux", 7, { ...socket, code: "EACCES" }, /denied/, /this user's own.*--user/],
    ["linux", 7, { ...socket, code: "ECONNRESET" }, /closed the connection/, /--user start/],
    ["darwin", 7, { ...socket, code: "ENOENT" }, /not running/, /podman machine start.*brew/],
    ["win32", null, { ...socket, code: "ENOENT" }, /not running/, /podman machine start.*winget/],
    ["linux", 7, { ...tcp, code: "ECONNREFUSED" }, /nothing answers on CONTAINER_HOST/, /Check CONTAINER_HOST/],
    ["linux", 7, { ...tcp, code: "ENOTFOUND" }, /unknown/, /Check CONTAINER_HOST/],
    ["linux", 7, { ...tcp, code: "ETIMEDOUT" }, /does not answer/, /Check CONTAINER_HOST/],
    ["linux", 7, { ...tcp, code: "" }, /broke off/, /Check CONTAINER_HOST/],
    ["linux", 7, { ...socket, code: "HTTP_404" }, /not Podman 4/, /Check the default socket/],
    [
      "linux",
      7,
      { ...socket, origin: "CONTAINER_HOST", code: "ENOENT" },
      /CONTAINER_HOST does/,
      /Or correct CONTAINER/,
    ],
  ] as const)("on %s for user %s with %j says why and what to do", (platform, uid, failure, why, howToStart) => {
    const explained = explainPodmanFailure(failure, { platform, uid });
    expect(explained.reason).toMatch(why);
    expect(explained.howToStart).toMatch(howToStart);
  });
});
