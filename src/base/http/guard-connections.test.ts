import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { settlesWithin } from "../abort.ts";
import { guardConnections } from "./connections.ts";

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

async function serve(answer: (path: string, response: ServerResponse) => unknown, stalledMs?: number): Promise<Socket> {
  server = createServer(({ url = "" }, response) => answer(url, response));
  guardConnections(server, stalledMs === undefined ? {} : { stalledMs });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

describe("a connection", () => {
  it("has one request at a time: those behind it are not served, and it ends after the answer", async () => {
    const served: string[] = [];
    const socket = await serve((path, response) => {
      served.push(path);
      setTimeout(() => response.end(`answer to ${path}`), 50);
    });
    socket.write(get("/1") + get("/2") + get("/3"));
    const answers = text(socket);
    expect(await settlesWithin(answers, 10_000), "it ends").toBe(true);
    expect(served).toEqual(["/1"]);
    expect(await answers).toContain("answer to /1");
    expect((await answers).match(/HTTP\/1\.1 200/g)).toHaveLength(1);
  });

  it("is kept for its next request longer than clients keep theirs", async () => {
    const socket = await serve((_, response) => response.end("done"), 20);
    socket.setEncoding("utf8").write(get("/1"));
    const [head] = (await once(socket, "data")) as [string];
    expect(Number(/keep-alive: timeout=(\d+)/i.exec(head)?.[1])).toBeGreaterThan(90);
    expect(await settlesWithin(once(socket, "close"), 100)).toBe(false);
  });

  it("serves one request after the other as long as each waits for its answer", async () => {
    const socket = await serve((path, response) => response.end(`answer to ${path}.`));
    socket.setEncoding("utf8");
    let heard = "";
    socket.on("data", (piece: string) => (heard += piece));
    for (const path of ["/1", "/2", "/3"]) {
      socket.write(get(path));
      while (!heard.includes(`answer to ${path}.`)) await once(socket, "data");
    }
    expect(heard.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    socket.destroy();
  });

  it("ends at once when very many come behind one that is not answered", async () => {
    let served = 0;
    const socket = await serve(() => (served += 1));
    socket.on("error", () => undefined);
    socket.write(get("/").repeat(1000));
    socket.resume();
    await once(socket, "close");
    expect(served).toBe(1);
  });

  it("ends when its reader accepts nothing of an answer, and not while an answer is worked out", async () => {
    const isEnded = Promise.withResolvers<string>();
    const socket = await serve((path, response) => {
      response.once("close", () => {
        if (!response.writableFinished) isEnded.resolve(path);
      });
      if (path === "/late") setTimeout(() => response.end("late"), 600);
      else response.end(Buffer.alloc(64 * 1_048_576));
    }, 100);
    socket.write(get("/late"));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toContain("late");
    socket.pause();
    socket.on("error", () => undefined);
    socket.write(get("/large"));
    expect(await settlesWithin(isEnded.promise, 10_000)).toBe(true);
    expect(await isEnded.promise).toBe("/large");
  });
});
