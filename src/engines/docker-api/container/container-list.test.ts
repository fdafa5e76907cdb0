import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Api } from "../http/api.ts";
import { listContainers } from "./container-list.ts";

const opened: { readonly server: http.Server; readonly api: Api }[] = [];

/** An engine that lists this, and can show the containers with these ids. */
async function engineThatLists(list: unknown, shown: readonly string[] = []): Promise<Api> {
  const server = http.createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://engine").pathname;
    const isKnown = path.endsWith("/containers/json") || shown.some((id) => path.endsWith(`/containers/${id}/json`));
    const body = path.endsWith("/containers/json") ? list : isKnown ? {} : { message: "No such container" };
    response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api = new Api({
    engine: "docker",
    title: "Docker",
    findEndpoint: () => Promise.resolve({ kind: "tcp", host: "127.0.0.1", port, tls: null, origin: "DOCKER_HOST" }),
    explain: () => ({ reason: "not reached", howToStart: "start it" }),
  });
  opened.push({ server, api });
  return api;
}

afterEach(() => {
  for (const { server, api } of opened.splice(0)) {
    api.close();
    server.closeAllConnections();
    server.close();
  }
});

it("reads name, state, labels and time", async () => {
  const api = await engineThatLists([
    { Id: "a", Names: ["/other/alias", "/one"], Labels: { x: "y" }, State: "running", Created: 1_700_000_000 },
    { Id: "b", Names: ["/two"], Labels: null, State: "exited", Created: 1 },
    { Id: "c", Names: ["/three"], State: "created" },
  ]);
  expect(await listContainers(api, {}, {})).toEqual([
    { id: "a", name: "one", labels: { x: "y" }, running: true, createdAtMs: 1_700_000_000_000 },
    { id: "b", name: "two", labels: {}, running: false, createdAtMs: 1000 },
    { id: "c", name: "three", labels: {}, running: false, createdAtMs: 0 },
  ]);
});

it("reads the answer of an engine without any", async () => {
  expect(await listContainers(await engineThatLists(null), {}, {})).toEqual([]);
});

it("leaves out what the engine lists without a name and does not have", async () => {
  const listed = ["gone", "there"].map((Id) => ({ Id, Names: [], State: "dead" }));
  const found = await listContainers(await engineThatLists(listed, ["there"]), {}, {});
  expect(found.map(({ id }) => id)).toEqual(["there"]);
});
