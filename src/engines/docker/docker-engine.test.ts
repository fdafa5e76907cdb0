import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { ContainerSpec } from "../container-spec.ts";
import { DockerApiEngine } from "../docker-api/engine.ts";
import { dockerDialect } from "./docker-engine.ts";

const spec: ContainerSpec = {
  name: "box",
  image: "base:1",
  labels: {},
  limits: { cpus: 1, memoryBytes: 1_000_000, pids: 10 },
  scratch: [],
};
const opened: { readonly server: http.Server; readonly engine: DockerApiEngine }[] = [];

/** An engine with one image, whose tag can move; it notes how often the image was inspected, and what was made. */
async function engineWithImage({ dialect = dockerDialect, config = null as string | null } = {}) {
  const state = {
    id: "sha256:1",
    names: ["base:1"],
    labels: {} as Record<string, string>,
    inspections: 0,
    made: [] as unknown[],
    pulls: [] as unknown[],
  };
  const answerTo = (url: string, body: string, auth: unknown): readonly [number, unknown] => {
    if (url.includes("/images/create")) {
      const asked = new URL(url, "http://x").searchParams;
      state.pulls.push([asked.get("fromImage"), asked.get("tag"), auth ?? null]);
      return [404, { message: "manifest unknown: SAID BY THE REGISTRY" }];
    }
    if (url.includes("/images/")) {
      state.inspections += 1;
      // As engines do, it finds the image by whatever might mean it.
      return [200, { Id: state.id, RepoTags: state.names, Config: { Labels: state.labels } }];
    }
    if (!url.includes("/containers/create"))
      return [200, { ApiVersion: "1.41", Os: "linux", OSType: "linux", Architecture: "x86_64" }];
    const { Image: image, User } = JSON.parse(body) as { readonly Image: string; readonly User?: string };
    if (image !== state.id && image !== "sha256:1") return [404, { message: `No such image: ${image}` }];
    // Not the one that fills the supervisor's volume, which is never started.
    if (User !== undefined) state.made.push(image);
    return [201, { Id: "c1" }];
  };
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const [status, answer] = answerTo(request.url ?? "", body, request.headers["x-registry-auth"]);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const engine = new DockerApiEngine({
    dialect,
    findEndpoint: () => Promise.resolve({ kind: "tcp", host: "127.0.0.1", port, tls: null, origin: "DOCKER_HOST" }),
    explain: () => ({ reason: "not reached", howToStart: "start it" }),
    readClientConfig: () => Promise.resolve(config),
    randomInteger: (minimum) => minimum,
  });
  opened.push({ server, engine });
  return { engine, state };
}

afterEach(async () => {
  for (const { server, engine } of opened.splice(0)) {
    await engine.close();
    server.closeAllConnections();
    server.close();
  }
});

it("inspects an image once for a container, which is made of what was inspected though the tag moves on", async () => {
  const { engine, state } = await engineWithImage();
  await engine.images.has("base:1");
  state.id = "sha256:2";
  await engine.create(spec);
  expect(state).toMatchObject({ inspections: 1, made: ["sha256:1"] });
  await engine.create(spec);
  expect(state, "the next one is of what the tag leads to by then").toMatchObject({
    inspections: 2,
    made: ["sha256:1", "sha256:2"],
  });
});

it("inspects an image anew when what was found is gone", async () => {
  const { engine, state } = await engineWithImage();
  state.id = "sha256:gone";
  await engine.images.has("base:1");
  state.id = "sha256:2";
  await engine.create(spec);
  expect(state).toMatchObject({ inspections: 2, made: ["sha256:2"] });
});

it("inspects an image anew when images have been removed since", async () => {
  const { engine, state } = await engineWithImage();
  await engine.images.has("base:1");
  await engine.images.remove("base:1");
  state.inspections = 0;
  await engine.create(spec);
  expect(state.inspections).toBe(1);
});

const whole = `sha256:${"5f".repeat(32)}`;

it.each([
  ["5", false],
  ["5f5f5f5f5f5f", false],
  ["other:1", false],
  ["base", false],
  ["base:2", false],
  ["registry.example/base:1", false],
  ["localhost/base:1", false],
  [`base@${whole}`, false],
  [`sha256:${"5e".repeat(32)}`, false],
  ["base:1", true],
  ["docker.io/library/base:1", true],
  [whole, true],
])("an image that the engine finds by %s counts: %s", async (reference, isThere) => {
  const { engine, state } = await engineWithImage();
  state.id = whole;
  expect(await engine.images.has(reference)).toBe(isThere);
  const made: unknown = await engine.create({ ...spec, image: reference }).catch((error: unknown) => error);
  expect(made).toMatchObject(isThere ? { id: "c1" } : { errorType: "IMAGE_UNAVAILABLE" });
});

it("an image that was prepared is refused under any name, and found by the id that only its maker has", async () => {
  const { engine, state } = await engineWithImage();
  state.id = whole;
  for (const label of ["glovebox.image", "glovebox.kept", "glovebox.sandbox"]) {
    state.labels = { [label]: "" };
    for (const use of [
      engine.images.has("base:1"),
      engine.images.identity("base:1"),
      engine.images.labels("base:1"),
      engine.create(spec),
    ]) {
      await expect(use, label).rejects.toMatchObject({
        errorType: "POLICY_DENIED",
        context: { rule: "prepared-images" },
      });
    }
    expect(await engine.images.identity(whole)).toBe(whole);
  }
  state.labels = { "glovebox.bun": "1.3.0" };
  expect(await engine.images.has("base:1"), "one that Glovebox built for everybody").toBe(true);
});

it("a name that moves to a prepared image between the look and the use leads to what was looked at, or nowhere", async () => {
  const { engine, state } = await engineWithImage();
  await engine.images.has("base:1");
  Object.assign(state, { id: "sha256:2", labels: { "glovebox.image": "img-1" } });
  await engine.create(spec);
  expect(state.made).toEqual(["sha256:1"]);
  await expect(engine.create(spec)).rejects.toMatchObject({ errorType: "POLICY_DENIED" });
});

it("asks for exactly the named image, with credentials only if it may", async () => {
  const config = JSON.stringify({
    auths: { "registry.example": { auth: Buffer.from("me:secret").toString("base64") } },
  });
  const { engine, state } = await engineWithImage({ config });
  const pull = async (reference: string, useCredentials?: boolean): Promise<void> => {
    const error: unknown = await engine.images.pull(reference, { useCredentials }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ errorType: "IMAGE_UNAVAILABLE" });
    expect(JSON.stringify(error)).not.toContain("SAID");
  };
  await pull("python");
  await pull("registry.example/x:1");
  await pull("registry.example/x:1", true);
  await pull("registry.example:444/x:1", true);
  await pull(whole, true);
  expect(state.pulls).toEqual([
    ["docker.io/library/python", "latest", null],
    ["registry.example/x", "1", null],
    ["registry.example/x", "1", expect.any(String)],
    ["registry.example:444/x", "1", null],
  ]);
  const cannot = await engineWithImage({ dialect: { ...dockerDialect, pullsAnonymously: false } });
  await expect(cannot.engine.images.pull("registry.example/x:1")).rejects.toMatchObject({
    errorType: "IMAGE_UNAVAILABLE",
    suggestion: expect.stringContaining("images.allow"),
  });
  expect(cannot.state.pulls).toEqual([]);
});
