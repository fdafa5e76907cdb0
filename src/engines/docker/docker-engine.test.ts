import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { ContainerSpec } from "../container-spec.ts";
import { DockerApiEngine } from "../docker-api/engine.ts";
import { dockerDialect } from "./docker-dialect.ts";

const spec: ContainerSpec = {
  name: "box",
  image: "base:1",
  labels: {},
  limits: { cpus: 1, memoryBytes: 1_000_000, pids: 10 },
  scratch: [],
};
const opened: { readonly server: http.Server; readonly engine: DockerApiEngine }[] = [];

/** An engine with one image, whose tag can move; it notes how often the image was inspected, and what was made. */
async function engineWithImage() {
  const state = { id: "sha256:1", inspections: 0, made: [] as unknown[] };
  const answerTo = (url: string, body: string): readonly [number, unknown] => {
    if (url.includes("/images/")) {
      state.inspections += 1;
      return [200, { Id: state.id }];
    }
    if (!url.includes("/containers/create")) return [200, { ApiVersion: "1.41", Os: "linux", OSType: "linux" }];
    const { Image: image } = JSON.parse(body) as { readonly Image: string };
    if (image !== state.id && image !== "sha256:1") return [404, { message: `No such image: ${image}` }];
    state.made.push(image);
    return [201, { Id: "c1" }];
  };
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const [status, answer] = answerTo(request.url ?? "", body);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const engine = new DockerApiEngine({
    dialect: dockerDialect,
    findEndpoint: () => Promise.resolve({ kind: "tcp", host: "127.0.0.1", port, tls: null, origin: "DOCKER_HOST" }),
    explain: () => ({ reason: "not reached", howToStart: "start it" }),
    readClientConfig: () => Promise.resolve(null),
    seccompProfiles: { programs: {}, installers: {} },
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
