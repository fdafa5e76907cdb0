import { setImmediate } from "node:timers/promises";
import fastify from "fastify";
import { expect, it } from "vitest";
import { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { holdBytes, readJsonBodies } from "./request-body.ts";

it("lets a principal's body come between those that another sent at once", async () => {
  const app = fastify();
  const inFlight = new BytesInFlight();
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request) => {
    request.caller = { principal: String(request.headers["x-principal"]) };
  });
  holdBytes(app, inFlight);
  readJsonBodies(app, inFlight);
  const handled: string[] = [];
  app.post("/", async ({ caller }) => {
    handled.push(caller?.principal ?? "");
    return null;
  });
  const ask = (principal: string): Promise<unknown> =>
    app.inject({ method: "POST", url: "/", payload: { a: 1 }, headers: { "x-principal": principal } });
  await ask("modest");
  const all = Array.from({ length: 200 }, () => ask("greedy"));
  for (let turn = 0; turn < 3; turn++) await setImmediate();
  await ask("modest");
  const before = handled.lastIndexOf("modest") - 1;
  expect(before, "bodies of the other that were handled first").toBeLessThan(100);
  await Promise.all(all);
  expect(handled).toHaveLength(202);
  await app.close();
});
