import { describe, expect, it } from "vitest";
import { parseDockerHost } from "./parse-docker-host.ts";

const origin = "DOCKER_HOST";
const tls = { ca: "CA", cert: "CERT", key: "KEY", verify: true };

describe("parseDockerHost", () => {
  it.each([
    ["unix:///run/docker.sock", null, { kind: "socket", path: "/run/docker.sock" }],
    ["npipe:////./pipe/docker_engine", null, { kind: "socket", path: "//./pipe/docker_engine" }],
    ["npipe://\\\\.\\pipe\\docker_engine", null, { kind: "socket", path: "//./pipe/docker_engine" }],
    ["tcp://10.0.0.1", null, { kind: "tcp", host: "10.0.0.1", port: 2375, tls: null }],
    ["tcp://box:4000/", null, { kind: "tcp", host: "box", port: 4000, tls: null }],
    ["box:4000", null, { kind: "tcp", host: "box", port: 4000, tls: null }],
    ["tcp://[::1]:2375", null, { kind: "tcp", host: "::1", port: 2375, tls: null }],
    ["http://box:80", null, { kind: "tcp", host: "box", port: 80, tls: null }],
    ["tcp://box", tls, { kind: "tcp", host: "box", port: 2376, tls }],
    ["ssh://box", null, { kind: "ssh", host: "box" }],
    [
      "SSH://me@box:2222/run/d.sock",
      tls,
      { kind: "ssh", user: "me", host: "box", port: 2222, socketPath: "/run/d.sock" },
    ],
    ["https://box", null, { kind: "tcp", host: "box", port: 2376, tls: { verify: true } }],
  ])("reads %s", (address, material, expected) => {
    expect(parseDockerHost(address, { origin, tls: material })).toEqual({ ...expected, origin });
  });

  it.each([
    "unix://relative.sock",
    "npipe://pipe",
    "tcp://",
    "tcp://box/path",
    "tcp://box:99999",
    "ftp://box",
    "fd://",
  ])("says that %s names no endpoint", (address) => {
    expect(parseDockerHost(address, { origin, tls: null })).toMatchObject({
      reason: expect.stringContaining("DOCKER_HOST"),
      howToStart: expect.stringContaining("unix://"),
    });
  });

  it("says how hosts over SSH are named", () => {
    expect(parseDockerHost("ssh://me:secret@box", { origin, tls: null })).toEqual({
      reason: "DOCKER_HOST does not name a host over SSH.",
      howToStart: expect.stringContaining("ssh://USER@HOST:PORT"),
    });
  });
});
