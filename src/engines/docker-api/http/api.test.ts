import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { mebibyte } from "../../../base/bytes.ts";
import { Api } from "./api.ts";

it("breaks off an answer that is longer than any engine's", async () => {
  let sentBytes = 0;
  const server = http.createServer((_, response) => {
    const piece = Buffer.alloc(mebibyte, " ");
    const send = (): void => {
      while (!response.destroyed && sentBytes < 128 * mebibyte) {
        sentBytes += piece.length;
        if (!response.write(piece)) return void response.once("drain", send);
      }
      response.end();
    };
    send();
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
  try {
    await expect(api.call("list images", { method: "GET", path: "/images/json" })).rejects.toMatchObject({
      errorType: "INTERNAL",
      message: "Docker answered with more than 64 MB.",
    });
    expect(sentBytes).toBeLessThan(128 * mebibyte);
  } finally {
    api.close();
    server.closeAllConnections();
    server.close();
  }
});
