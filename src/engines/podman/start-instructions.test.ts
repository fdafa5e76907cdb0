import { describe, expect, it } from "vitest";
import { explainPodmanFailure } from "./start-instructions.ts";

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
