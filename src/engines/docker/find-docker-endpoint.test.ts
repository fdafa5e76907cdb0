import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { findDockerEndpoint, parseDockerHost } from "./docker-engine.ts";

type Texts = Readonly<Record<string, string>>;

function find(environment: Texts, texts: Texts = {}, platform: NodeJS.Platform = "linux"): Promise<unknown> {
  const files = {
    read: (path: string) => Promise.resolve(texts[path] ?? null),
    exists: (path: string) => Promise.resolve(path in texts),
  };
  return findDockerEndpoint({ environment: { HOME: "/home/me", ...environment }, platform, files });
}

function context(name: string, docker: object, folder = "/home/me/.docker"): Texts {
  const hash = createHash("sha256").update(name).digest("hex");
  return { [`${folder}/contexts/meta/${hash}/meta.json`]: JSON.stringify({ Name: name, Endpoints: { docker } }) };
}

const chosen = { "/home/me/.docker/config.json": JSON.stringify({ currentContext: "colima" }) };
const colima = context("colima", { Host: "unix:///colima.sock" });
const other = context("other", { Host: "unix:///other.sock" });

describe("findDockerEndpoint", () => {
  it("prefers DOCKER_HOST, then DOCKER_CONTEXT, then the configured context, then the default", async () => {
    const texts = { ...chosen, ...colima, ...other };
    const both = { DOCKER_HOST: "unix:///host.sock", DOCKER_CONTEXT: "other" };
    expect(await find(both, texts)).toMatchObject({ path: "/host.sock", origin: "DOCKER_HOST" });
    expect(await find({ DOCKER_CONTEXT: "other" }, texts)).toMatchObject({
      path: "/other.sock",
      origin: 'the Docker context "other"',
    });
    expect(await find({}, texts)).toMatchObject({ path: "/colima.sock" });
    expect(await find({ DOCKER_CONTEXT: "default" }, texts)).toMatchObject({ path: "/var/run/docker.sock" });
    expect(await find({ DOCKER_HOST: "", DOCKER_CONTEXT: "" }, {})).toEqual({
      kind: "socket",
      path: "/var/run/docker.sock",
      origin: "the default socket",
    });
  });

  it("looks for configuration in DOCKER_CONFIG", async () => {
    const texts = {
      "/etc/d/config.json": '{"currentContext":"there"}',
      ...context("there", { Host: "tcp://box:1" }, "/etc/d"),
    };
    expect(await find({ DOCKER_CONFIG: "/etc/d" }, texts)).toMatchObject({ host: "box", port: 1, tls: null });
  });

  it("takes the desktop's or the rootless socket when the system's is missing", async () => {
    const desktop = "/home/me/.docker/run/docker.sock";
    expect(await find({}, { [desktop]: "" })).toMatchObject({ path: desktop });
    expect(await find({}, { [desktop]: "", "/var/run/docker.sock": "" })).toMatchObject({
      path: "/var/run/docker.sock",
    });
    const rootless = { "/run/user/7/docker.sock": "" };
    expect(await find({ XDG_RUNTIME_DIR: "/run/user/7" }, rootless)).toMatchObject({ path: "/run/user/7/docker.sock" });
  });

  it("takes the pipe on Windows", async () => {
    expect(await find({}, {}, "win32")).toMatchObject({ kind: "socket", path: "//./pipe/docker_engine" });
  });

  it("reads the certificates of DOCKER_TLS_VERIFY", async () => {
    const pem = { "/certs/ca.pem": "CA", "/certs/cert.pem": "CERT", "/certs/key.pem": "KEY" };
    const secure = { DOCKER_HOST: "tcp://box:2376", DOCKER_TLS_VERIFY: "1" };
    expect(await find({ ...secure, DOCKER_CERT_PATH: "/certs" }, pem)).toMatchObject({
      tls: { ca: "CA", cert: "CERT", key: "KEY", verify: true },
    });
    expect(await find(secure, { "/home/me/.docker/ca.pem": "HOME-CA" })).toMatchObject({ tls: { ca: "HOME-CA" } });
    expect(await find({ DOCKER_HOST: "tcp://box:2376" }, pem)).toMatchObject({ tls: null });
  });

  it("reads the certificates of a context", async () => {
    const hash = createHash("sha256").update("far").digest("hex");
    const certificates = { [`/home/me/.docker/contexts/tls/${hash}/docker/ca.pem`]: "CTX-CA" };
    const texts = { ...context("far", { Host: "tcp://far:2376", SkipTLSVerify: false }), ...certificates };
    expect(await find({ DOCKER_CONTEXT: "far" }, texts)).toMatchObject({ tls: { ca: "CTX-CA", verify: true } });
    const careless = context("far", { Host: "tcp://far:2376", SkipTLSVerify: true });
    expect(await find({ DOCKER_CONTEXT: "far" }, careless)).toMatchObject({ tls: { verify: false } });
  });

  it.each([
    [{ DOCKER_CONTEXT: "absent" }, 'The Docker context "absent" does not exist.'],
    [{ DOCKER_HOST: "nonsense://x" }, "DOCKER_HOST does not name an endpoint of Docker."],
    [{ DOCKER_HOST: "ssh://-oProxyCommand=x" }, "SSH"],
  ])("refuses %j", async (environment, message) => {
    await expect(find(environment as Texts)).rejects.toMatchObject({
      errorType: "ENGINE_UNAVAILABLE",
      message: expect.stringContaining(message),
      suggestion: expect.stringMatching(/\w/),
    });
  });

  it("does without a configuration that is no JSON", async () => {
    expect(await find({}, { "/home/me/.docker/config.json": "{" })).toMatchObject({ origin: "the default socket" });
  });
});

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
