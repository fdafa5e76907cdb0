import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type http from "node:http";
import { describe, expect, it } from "vitest";
import { openAnsweringEngine, type AnsweringEngine } from "../../../test/helpers/answering-engine.ts";
import { supervisorBinary } from "../supervised/supervisor-binary.ts";
import { SupervisorVolume } from "./engine-volumes.ts";

const binary = supervisorBinary("x64");
const image = { id: "sha256:1", volumes: ["/data"] };

interface Call {
  readonly what: string;
  readonly body: Buffer;
}

/** An engine with one volume, and what it was asked. */
async function engineWith(held: Buffer | null, isRefusing = { now: false }, named = binary) {
  const calls: Call[] = [];
  const state = { held, isThere: held !== null, failingCopies: 0 };
  const answer: http.RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const path = (request.url ?? "").replace(/^\/v[\d.]+/, "").split("?")[0] ?? "";
      const what = `${request.method} ${path}`;
      const body = Buffer.concat(pieces);
      calls.push({ what, body });
      if (isRefusing.now) return response.writeHead(500).end('{"message":"no space left"}');
      if (what === "POST /containers/create") return response.writeHead(201).end('{"Id":"c1"}');
      if (what === "PUT /containers/c1/archive") {
        if (state.failingCopies-- > 0) return response.writeHead(500).end('{"message":"chmod: no such file"}');
        state.held = body;
        state.isThere = true;
        return response.writeHead(200).end();
      }
      if (what.startsWith("GET /volumes/")) {
        return state.isThere
          ? response.writeHead(200).end('{"Mountpoint":"/store"}')
          : response.writeHead(404).end('{"message":"no such volume"}');
      }
      if (what !== "GET /containers/c1/archive") return response.writeHead(204).end();
      return state.held === null
        ? response.writeHead(404).end('{"message":"no such file"}')
        : response.writeHead(200, { "content-type": "application/x-tar" }).end(state.held);
    });
  };
  const engine: AnsweringEngine = await openAnsweringEngine("docker", answer);
  return { volume: new SupervisorVolume(engine.api, named), calls, state, [Symbol.dispose]: engine[Symbol.dispose] };
}

const asked = (calls: readonly Call[]): readonly string[] =>
  calls.map(({ what }) => what).filter((what) => !what.startsWith("GET /version"));

describe("SupervisorVolume", () => {
  it("is named by what it holds", async () => {
    using engine = await engineWith(null);
    const hash = createHash("sha256")
      .update(await readFile(binary.path))
      .digest("hex");
    expect(binary.sha256).toBe(hash);
    expect(engine.volume.name).toMatch(/^glovebox-supervisor-x64-[0-9a-f]{32}$/);
    using other = await engineWith(null, { now: false }, { ...binary, sha256: "0".repeat(64) });
    expect(other.volume.name).not.toBe(engine.volume.name);
  });

  it("is filled once for all who wait, by a container that is never started", async () => {
    using engine = await engineWith(null);
    await Promise.all([engine.volume.ready(image, {}, undefined), engine.volume.ready(image, {}, undefined)]);
    await engine.volume.ready(image, {}, undefined);
    expect(asked(engine.calls)).toEqual([
      `GET /volumes/${engine.volume.name}`,
      "POST /containers/create",
      "GET /containers/c1/archive",
      "GET /containers/c1/archive",
      "PUT /containers/c1/archive",
      "DELETE /containers/c1",
      `GET /volumes/${engine.volume.name}`,
    ]);
    const made = JSON.parse(engine.calls.find(({ what }) => what.endsWith("/create"))?.body.toString() ?? "");
    expect(made).toMatchObject({
      HostConfig: {
        Mounts: [{ Source: engine.volume.name, Target: "/.glovebox" }],
        Tmpfs: { "/data": "ro,size=4096" },
      },
    });
    const archive = engine.state.held ?? Buffer.alloc(0);
    const at = archive.indexOf("supervisor\0");
    const program = await readFile(binary.path);
    expect(archive.includes(program, at)).toBe(true);
    expect(archive.subarray(at + 100, at + 107).toString(), "anybody may run it, nobody may write it").toBe("0000555");
    const last = archive.lastIndexOf("localhost sandbox");
    expect(last, "what every container mounts comes last").toBeGreaterThan(at + program.length);
    expect(archive.lastIndexOf("passwd-")).toBeLessThan(last);
  });

  it("is used as it is where it is there: an engine refuses a container where it is not complete", async () => {
    using engine = await engineWith(Buffer.alloc(0));
    const files = await engine.volume.ready(image, { processUser: "1000:50" }, undefined);
    expect(files.map(({ source }) => source)).toEqual([
      "/store/hosts",
      "/store/passwd-1000-50",
      "/store/group-1000-50",
    ]);
    expect(asked(engine.calls)).toEqual([`GET /volumes/${engine.volume.name}`]);
  });

  it("once doubted is left alone where it is complete, and filled where it came only half way", async () => {
    const program = await readFile(binary.path);
    const hosts = Buffer.from("127.0.0.1 localhost sandbox\n::1 localhost\n");
    for (const [held, isFilled] of [
      [Buffer.concat([Buffer.alloc(512), program, hosts]), false],
      [Buffer.concat([Buffer.alloc(512), program]), true],
      [Buffer.concat([Buffer.alloc(512), program.subarray(0, -1), hosts]), true],
      [Buffer.alloc(5_000_000), true],
    ] as const) {
      using engine = await engineWith(held);
      engine.volume.doubt();
      await engine.volume.ready(image, {}, undefined);
      expect(asked(engine.calls).includes("PUT /containers/c1/archive")).toBe(isFilled);
    }
  });

  it("names the user of each container and nobody else; once doubted, one that it has not met with a second archive", async () => {
    using engine = await engineWith(null);
    const near = await engine.volume.ready(image, { processUser: "60706:60706" }, undefined);
    expect(near).toEqual([
      { source: "/store/hosts", target: "/etc/hosts" },
      { source: "/store/passwd-60706-60706", target: "/etc/passwd" },
      { source: "/store/group-60706-60706", target: "/etc/group" },
    ]);
    engine.volume.doubt();
    const puts = (): number => asked(engine.calls).filter((what) => what.startsWith("PUT")).length;
    await engine.volume.ready(image, {}, undefined);
    expect(puts()).toBe(1);
    await engine.volume.ready(image, { processUser: "1000:50" }, undefined);
    await engine.volume.ready(image, { processUser: "1000:50" }, undefined);
    expect(puts()).toBe(2);
    const text = engine.state.held?.toString() ?? "";
    expect(text).toContain("glovebox:x:1000:50:glovebox:/tmp:/bin/sh\n");
    expect(text).not.toContain("60706");
    // Who installs changes the image's own users.
    expect(await engine.volume.ready(image, { processUser: "0:0", rootCapabilities: ["CHOWN"] }, undefined)).toEqual([
      { source: "/store/hosts", target: "/etc/hosts" },
    ]);
  });

  it("gets nothing but what its name says", async () => {
    using engine = await engineWith(null, { now: false }, { ...binary, sha256: "0".repeat(64) });
    await expect(engine.volume.ready(image, {}, undefined)).rejects.toMatchObject({ errorType: "INTERNAL" });
    expect(asked(engine.calls)).toEqual([`GET /volumes/${engine.volume.name}`]);
  });

  it("is filled where another server's copies made ours fail, though not for ever", async () => {
    using engine = await engineWith(null);
    engine.state.failingCopies = 3;
    await engine.volume.ready(image, {}, undefined);
    const puts = (): number => asked(engine.calls).filter((what) => what.startsWith("PUT")).length;
    expect(puts()).toBe(4);
    engine.volume.doubt();
    engine.state.held = null;
    engine.state.failingCopies = 4;
    await expect(engine.volume.ready(image, {}, undefined)).rejects.toThrow("failed to copy files");
    expect(puts()).toBe(8);
  });

  it("is filled again once it was doubted, and after a failure", async () => {
    const isRefusing = { now: true };
    using engine = await engineWith(null, isRefusing);
    await expect(engine.volume.ready(image, {}, undefined)).rejects.toThrow("failed to look for a volume");
    isRefusing.now = false;
    await engine.volume.ready(image, {}, undefined);
    engine.state.held = null;
    engine.volume.doubt();
    await engine.volume.ready(image, {}, undefined);
    expect(asked(engine.calls).filter((what) => what.startsWith("PUT"))).toHaveLength(2);
  });
});
