import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Api } from "../http/api.ts";
import { removeContainer } from "./remove-container.ts";

const left =
  "timed out waiting for container c1 exec session e1 PID 7 to stop after SIGKILL: given PIDs did not die within timeout";
const opened: { readonly server: http.Server; readonly api: Api }[] = [];

/** An engine that fails as many removals; gives how often it was asked for one. */
async function engineThatFails(removals: number): Promise<{ readonly api: Api; readonly asked: () => number }> {
  let asked = 0;
  const server = http.createServer((_, response) => {
    asked += 1;
    const fails = asked <= removals;
    response.writeHead(fails ? 500 : 204, { "content-type": "application/json" });
    response.end(fails ? JSON.stringify({ message: left }) : undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api = new Api({
    engine: "podman",
    title: "Podman",
    findEndpoint: () => Promise.resolve({ kind: "tcp", host: "127.0.0.1", port, tls: null, origin: "CONTAINER_HOST" }),
    explain: () => ({ reason: "not reached", howToStart: "start it" }),
  });
  opened.push({ server, api });
  return { api, asked: () => asked };
}

afterEach(() => {
  for (const { server, api } of opened.splice(0)) {
    api.close();
    server.closeAllConnections();
    server.close();
  }
});

it("asks again for a removal that the engine has failed", async () => {
  const { api, asked } = await engineThatFails(2);
  await removeContainer(api, "c1");
  expect(asked()).toBe(3);
});

it("tells when the engine fails it every time", async () => {
  const { api, asked } = await engineThatFails(Number.POSITIVE_INFINITY);
  await expect(removeContainer(api, "c1")).rejects.toMatchObject({
    errorType: "INTERNAL",
    message: "Podman failed to remove the container (HTTP 500).",
  });
  expect(asked()).toBe(5);
});
