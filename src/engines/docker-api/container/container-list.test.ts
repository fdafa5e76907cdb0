import { expect, it } from "vitest";
import { openAnsweringEngine, type AnsweringEngine } from "../../../../test/helpers/answering-engine.ts";
import { listContainers } from "../engine.ts";

/** An engine that lists this, and can show the containers with these ids. */
function engineThatLists(list: unknown, shown: readonly string[] = []): Promise<AnsweringEngine> {
  return openAnsweringEngine("docker", (request, response) => {
    const path = new URL(request.url ?? "", "http://engine").pathname;
    const isList = path.endsWith("/containers/json");
    const isKnown = isList || shown.some((id) => path.endsWith(`/containers/${id}/json`));
    const known = isList ? list : {};
    response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isKnown ? known : { message: "No such container" }));
  });
}

it("reads name, state, labels and time", async () => {
  using engine = await engineThatLists([
    { Id: "a", Names: ["/other/alias", "/one"], Labels: { x: "y" }, State: "running", Created: 1_700_000_000 },
    { Id: "b", Names: ["/two"], Labels: null, State: "exited", Created: 1 },
    { Id: "c", Names: ["/three"], State: "created" },
  ]);
  expect(await listContainers(engine.api, {}, {})).toEqual([
    { id: "a", name: "one", labels: { x: "y" }, running: true, createdAtMs: 1_700_000_000_000 },
    { id: "b", name: "two", labels: {}, running: false, createdAtMs: 1000 },
    { id: "c", name: "three", labels: {}, running: false, createdAtMs: 0 },
  ]);
});

it("reads the answer of an engine without any", async () => {
  using engine = await engineThatLists(null);
  expect(await listContainers(engine.api, {}, {})).toEqual([]);
});

it("leaves out what the engine lists without a name and does not have", async () => {
  const listed = ["gone", "there"].map((Id) => ({ Id, Names: [], State: "dead" }));
  using engine = await engineThatLists(listed, ["there"]);
  const found = await listContainers(engine.api, {}, {});
  expect(found.map(({ id }) => id)).toEqual(["there"]);
});
