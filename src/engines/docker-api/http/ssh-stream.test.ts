import { describe, expect, it } from "vitest";
import { sshFailure } from "./ssh-stream.ts";

describe("sshFailure", () => {
  it.each([
    [
      "SSH_HOST_KEY",
      255,
      "No ED25519 host key is known for box and you have requested strict checking.\r\nHost key verification failed.\r\n",
    ],
    ["SSH_DENIED", 255, "me@box: Permission denied (publickey,password).\r\n"],
    ["ENOTFOUND", 255, "ssh: Could not resolve hostname box: Name or service not known\r\n"],
    ["ECONNREFUSED", 255, "ssh: connect to host box port 22: Connection refused\r\n"],
    ["ETIMEDOUT", 255, "ssh: connect to host box port 22: Connection timed out\r\n"],
    ["SSH_NO_DOCKER", 127, "bash: line 1: docker: command not found\n"],
    ["SSH_NO_DOCKER", 127, ""],
    [
      "SSH_ENGINE",
      1,
      "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
    ],
    ["SSH_ENGINE", 1, "dial unix /var/run/docker.sock: connect: permission denied\n"],
    ["SSH_FAILED", 255, "kex_exchange_identification: Connection closed by remote host\n"],
  ])("finds %s with exit code %i in %j", (code, exitCode, said) => {
    expect(sshFailure({ exitCode, said })).toMatchObject({ code });
  });

  it("tells the last line, as far as it can be shown", () => {
    expect(sshFailure({ exitCode: 255, said: "first\nlast \u001B[31mline\r\n\n" }).message).toBe("last [31mline");
    expect(sshFailure({ exitCode: 255, said: "x".repeat(500) }).message).toHaveLength(200);
    expect(sshFailure({ exitCode: null, said: "" }).message).toBe("ssh exited with a signal");
  });
});
