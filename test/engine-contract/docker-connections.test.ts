import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";
import { createDockerEngine } from "../../src/engines/docker/docker-engine.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { guardEngine } from "../../src/engines/guarded-engine.ts";
import { mebibyte } from "../../src/base/bytes.ts";
import { createId } from "../../src/base/id.ts";
import { skipOrFail } from "../helpers/require.ts";
import { SshServer, whyNoSshServer } from "../helpers/ssh-server.ts";
import { TcpForwarder } from "../helpers/tcp-forwarder.ts";
import { TlsForwarder } from "../helpers/tls-forwarder.ts";
import { until } from "../helpers/until.ts";

const socket = "/var/run/docker.sock";
const image = process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1";
const ownPath = process.env["PATH"] ?? "";

const engines: Engine[] = [];

beforeEach((context) => {
  if (!existsSync(socket)) skipOrFail(context, "docker", "no socket at its default place");
});

afterEach(async () => {
  process.env["PATH"] = ownPath;
  for (const engine of engines.splice(0)) await engine.close();
});

function needSsh(context: TestContext): void {
  if (whyNoSshServer !== null) skipOrFail(context, "docker", whyNoSshServer);
}

function engineAt(environment: Readonly<Record<string, string>>): Engine {
  const { platform } = process;
  const engine = guardEngine(createDockerEngine({ environment, platform, randomInteger: randomInt }));
  engines.push(engine);
  return engine;
}

/** A container, programs side by side in it with both halves of their streams, a kill, and its end. */
async function useEngine(engine: Engine): Promise<void> {
  const probe = await engine.probe();
  expect(probe).toMatchObject({ available: true });
  const container = await engine.create({
    name: createId("glovebox-connection"),
    image,
    workingDirectory: "/work",
    labels: {},
    limits: { cpus: 1, memoryBytes: 128 * mebibyte, pids: 32 },
    scratch: [{ path: "/work", sizeBytes: 4 * mebibyte }],
  });
  try {
    await container.start();
    const forever = await container.exec({ command: ["sleep", "1000"] });
    const echo = await container.exec({
      command: ["sh", "-c", 'cat; echo "late" >&2; exit 7'],
    });
    const sent = Buffer.alloc(300_000, "x");
    echo.stdin.end(sent);
    const said = { stdout: 0, stderr: "" };
    for await (const { stream, bytes } of echo.output) {
      if (stream === "stdout") said.stdout += bytes.length;
      else said.stderr += Buffer.from(bytes).toString("utf8");
    }
    expect(said).toEqual({ stdout: sent.length, stderr: "late\n" });
    expect(await echo.exit).toEqual({ exitCode: 7 });
    await forever.kill("SIGKILL");
    expect(await forever.exit).toEqual({ exitCode: 137 });
    expect((await container.stats()).memoryBytes).toBeGreaterThan(0);
  } finally {
    await container.remove();
  }
}

async function reasonOf(host: string): Promise<{ readonly reason: string; readonly howToStart: string }> {
  const probe = await engineAt({ DOCKER_HOST: host }).probe();
  if (probe.available) throw new Error(`${host} leads to an engine.`);
  return probe;
}

function processesWith(word: string): number {
  const lines = execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.includes(word) && !line.startsWith("Z")).length;
}

describe("Docker over TCP", () => {
  it("serves without TLS", async () => {
    using forwarder = await TcpForwarder.to(socket);
    await useEngine(engineAt({ DOCKER_HOST: `tcp://127.0.0.1:${forwarder.port}` }));
  });

  it("serves over TLS with the client's certificate, and says what is wrong without", async () => {
    using forwarder = await TlsForwarder.to(socket);
    const secure = { DOCKER_HOST: `tcp://127.0.0.1:${forwarder.port}`, DOCKER_TLS_VERIFY: "1" };
    await useEngine(engineAt({ ...secure, DOCKER_CERT_PATH: forwarder.folder }));
    const folder = mkdtempSync(path.join(tmpdir(), "glovebox-no-certificates-"));
    try {
      const probe = await engineAt({ ...secure, DOCKER_CERT_PATH: folder }).probe();
      expect(probe).toMatchObject({
        available: false,
        reason: expect.stringMatching(/^Docker cannot be reached: TLS with DOCKER_HOST failed/),
        howToStart: expect.stringContaining("ca.pem"),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
    const plain = await engineAt({ DOCKER_HOST: secure.DOCKER_HOST }).probe();
    expect(plain).toMatchObject({ available: false });
  });
});

describe("Docker over SSH", () => {
  it("serves through the user's own ssh, whose processes end with the engine", async (context) => {
    needSsh(context);
    await using server = await SshServer.start();
    process.env["PATH"] = `${server.bin}:${ownPath}`;
    const engine = engineAt({ DOCKER_HOST: "ssh://box" });
    await useEngine(engine);
    expect((await engine.capabilities()).hostPaths).toBe(false);
    await useEngine(engineAt({ DOCKER_HOST: `ssh://box${socket}` }));
    await engine.close();
    for (const each of engines.splice(0)) await each.close();
    await until(() => processesWith(`-F ${server.folder}`) === 0);
  });

  it("says why a host cannot be used, and never asks for a password", async (context) => {
    needSsh(context);
    await using server = await SshServer.start();
    process.env["PATH"] = `${server.bin}:${ownPath}`;
    expect(await reasonOf("ssh://stranger")).toMatchObject({
      reason: expect.stringMatching(/key of the host named by DOCKER_HOST is unknown/),
      howToStart: expect.stringContaining("once by hand"),
    });
    expect(await reasonOf("ssh://locked")).toMatchObject({
      reason: expect.stringMatching(/refuses this user \(.*Permission denied/),
      howToStart: expect.stringContaining("Nothing prompts for passwords"),
    });
    expect(await reasonOf("ssh://silent")).toMatchObject({ reason: expect.stringContaining("does not answer") });
    expect(await reasonOf("ssh://box/nonexistent/engine.sock")).toMatchObject({
      reason: expect.stringMatching(/^Docker does not answer on the host named by DOCKER_HOST \(/),
    });
    process.env["PATH"] = server.folder;
    expect(await reasonOf("ssh://box")).toMatchObject({ reason: expect.stringContaining("needs the program ssh") });
  });

  it("says that the host has no docker command", async (context) => {
    needSsh(context);
    await using server = await SshServer.start({ PATH: "/nonexistent" });
    process.env["PATH"] = `${server.bin}:${ownPath}`;
    expect(await reasonOf("ssh://box")).toMatchObject({ reason: expect.stringContaining("has no docker command") });
  });

  it("starts no program for a host that is an option", async () => {
    const marker = path.join(tmpdir(), createId("glovebox-injected"));
    const { reason } = await reasonOf(`ssh://-oProxyCommand=touch${encodeURIComponent(" ")}${marker}`);
    expect(reason).toBe("DOCKER_HOST does not name a host over SSH.");
    expect(existsSync(marker)).toBe(false);
  });
});
