import { describe, expect, it } from "vitest";
import { explainDockerFailure } from "./docker-engine.ts";

const socket = { origin: "the default socket", kind: "socket" } as const;
const ssh = { origin: "DOCKER_HOST", kind: "ssh" } as const;
const tcp = { origin: "DOCKER_HOST", kind: "tcp" } as const;

describe("explainDockerFailure", () => {
  it.each([
    [
      "linux",
      { ...socket, code: "ENOENT" },
      /not running or not installed/,
      /systemctl start docker.*dockerd.*install/,
    ],
    ["linux", { ...socket, code: "ECONNREFUSED" }, /nothing answers/, /systemctl start docker/],
    ["linux", { ...socket, code: "EACCES" }, /denied/, /usermod -aG docker/],
    ["linux", { ...socket, code: "ECONNRESET" }, /closed the connection/, /systemctl start docker/],
    ["darwin", { ...socket, code: "ENOENT" }, /not running/, /open -a Docker/],
    ["win32", { ...socket, code: "ENOENT" }, /not running/, /Docker Desktop/],
    ["linux", { ...tcp, code: "ECONNREFUSED" }, /nothing answers on DOCKER_HOST/, /Check DOCKER_HOST/],
    ["linux", { ...tcp, code: "ENOTFOUND" }, /unknown/, /Check DOCKER_HOST/],
    ["linux", { ...tcp, code: "ETIMEDOUT" }, /does not answer/, /Check DOCKER_HOST/],
    ["linux", { ...tcp, code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, /TLS/, /ca\.pem/],
    ["linux", { ...tcp, code: "" }, /broke off/, /Check DOCKER_HOST/],
    ["linux", { ...tcp, code: "HTTP_400" }, /not Docker, or wants TLS/, /DOCKER_TLS_VERIFY/],
    ["linux", { ...ssh, code: "SSH_MISSING" }, /needs the program ssh/, /Install OpenSSH/],
    ["linux", { ...ssh, code: "SSH_HOST_KEY" }, /key of the host named by DOCKER_HOST is unknown/, /once by hand/],
    ["linux", { ...ssh, code: "SSH_DENIED", detail: "no" }, /refuses this user \(no\)/, /passwords/],
    ["linux", { ...ssh, code: "SSH_NO_DOCKER" }, /no docker command/, /Install Docker there/],
    ["linux", { ...ssh, code: "SSH_ENGINE" }, /does not answer on the host/, /usermod/],
    ["linux", { ...ssh, code: "ENOTFOUND" }, /is unknown/, /Check DOCKER_HOST/],
    ["linux", { ...ssh, code: "ETIMEDOUT" }, /does not answer/, /SSH server/],
    ["linux", { ...ssh, code: "HTTP_400" }, /is not Docker/, /Check DOCKER_HOST/],
    ["linux", { ...ssh, code: "SSH_FAILED", detail: "why" }, /broke off \(why\)/, /Check DOCKER_HOST/],
    [
      "linux",
      { ...socket, origin: "DOCKER_HOST", code: "ENOENT" },
      /DOCKER_HOST does not exist/,
      /Or correct DOCKER_HOST/,
    ],
  ] as const)("on %s with %j says why and what to do", (platform, failure, reason, howToStart) => {
    const explained = explainDockerFailure(failure, platform);
    expect(explained.reason).toMatch(reason);
    expect(explained.howToStart).toMatch(howToStart);
  });
});
