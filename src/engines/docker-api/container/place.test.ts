import type { Duplex } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { failureOf } from "../../../../test/helpers/failure-of.ts";
import { openAnsweringEngine } from "../../../../test/helpers/answering-engine.ts";
import type { Dialect } from "../dialect.ts";
import { DockerApiPlace } from "./place.ts";

const spec = {
  ...{ name: "box", image: "base:1", labels: {}, scratch: [] },
  limits: { cpus: 1, memoryBytes: 1_000_000, pids: 10 },
};
const missing = 'OCI runtime create failed: exec: "/.glovebox/supervisor": stat: no such file or directory: unknown';

const dialect: Dialect = {
  ...{ name: "docker", title: "Docker", howToAddRuntime: "", deniesOom: true },
  ...{ namesLocalBuilds: false, pullsAnonymously: true, mountsByHandle: false },
  createCall: () => Promise.reject(new Error("nothing is made here")),
  examine: () => Promise.reject(new Error("nothing is asked here")),
  runtimes: () => [],
  isNotRunning: (status) => status === 409,
  version: () => "1",
  foreignness: () => null,
};

/** A place on an engine that refuses the start of some containers. */
async function placeWith(refusals: Readonly<Record<string, string>>) {
  const started: string[] = [];
  const attached: string[] = [];
  const removed: string[] = [];
  const idOf = (url: string): string => /\/containers\/([^/?]+)/.exec(url)?.[1] ?? "";
  const engine = await openAnsweringEngine("docker", (request, response) => {
    const url = request.url ?? "";
    const id = idOf(url);
    if (request.method === "DELETE") removed.push(id);
    if (!url.includes("/start")) return void response.writeHead(204).end();
    started.push(id);
    const refusal = refusals[id];
    if (refusal === undefined) return void response.writeHead(204).end();
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ message: refusal }));
  });
  engine.server.on("upgrade", (request, socket: Duplex) => {
    attached.push(idOf(request.url ?? ""));
    expect(request.url).toMatch(/[?&]detachKeys=(?:&|$)/);
    socket.on("error", () => undefined);
    socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
  });
  const makeAgain = vi.fn(() => Promise.resolve("c2"));
  const onRemoved = vi.fn();
  const place = new DockerApiPlace(
    { id: "c1", spec, environment: {}, openFolders: [], runtimeKind: "gvisor", programUid: null, makeAgain, onRemoved },
    engine.api,
    dialect,
  );
  return { place, started, attached, removed, makeAgain, onRemoved, [Symbol.dispose]: engine[Symbol.dispose] };
}

describe("DockerApiPlace", () => {
  it("attaches before it starts, and makes nothing again", async () => {
    using scene = await placeWith({});
    const opened = vi.fn();
    await scene.place.start(opened, {});
    expect(opened).toHaveBeenCalledOnce();
    expect(scene).toMatchObject({ attached: ["c1"], started: ["c1"] });
    expect(scene.makeAgain).not.toHaveBeenCalled();
  });

  it("is made again when the supervisor's volume was removed, and keeps its users", async () => {
    using scene = await placeWith({ c1: missing });
    await scene.place.start(() => undefined, {});
    expect(scene).toMatchObject({ started: ["c1", "c2"], removed: ["c1"], place: { id: "c2" } });
    expect(scene.onRemoved).not.toHaveBeenCalled();
  });

  it("is made again once only", async () => {
    using scene = await placeWith({ c1: missing, c2: missing });
    await failureOf(
      scene.place.start(() => undefined, {}),
      "UNSUPPORTED",
    );
    expect(scene.started).toEqual(["c1", "c2"]);
  });

  it("tells any other refusal as it is", async () => {
    using scene = await placeWith({ c1: "error setting rlimit type 7: operation not permitted" });
    const opened = vi.fn();
    expect((await failureOf(scene.place.start(opened, {}), "UNSUPPORTED")).message).toContain("start the container");
    expect(scene.makeAgain).not.toHaveBeenCalled();
    expect(opened).not.toHaveBeenCalled();
  });

  it("gives its users back once the engine says that it is gone", async () => {
    using scene = await placeWith({});
    await scene.place.remove({});
    expect(scene.removed).toEqual(["c1"]);
    expect(scene.onRemoved).toHaveBeenCalledOnce();
  });

  it("lets no program of gVisor be root, whoever the container's programs are", async () => {
    using scene = await placeWith({});
    await failureOf(scene.place.admit({ command: ["id"], user: "0:0" }), "UNSUPPORTED");
    await expect(scene.place.admit({ command: ["id"], user: "1:0" })).resolves.toBeUndefined();
    await expect(scene.place.admit({ command: ["id"] })).resolves.toBeUndefined();
  });
});
