import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { ConnectionShares, type ConnectionLimits, type ConnectionOwner } from "./connections.ts";

let server: Server;
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

/** A server whose requests name their owner in the path; `/wait` is never answered. */
async function serve(limits: Partial<ConnectionLimits>): Promise<ConnectionShares> {
  const shares = new ConnectionShares(limits);
  server = createServer(({ url = "", socket }, response) => {
    const [, principal = "", isPreview] = url.split("/");
    if (principal === "open") return void response.end("open");
    try {
      shares.claim(socket, isPreview === undefined ? { principal } : { principal, isPreview: true });
      response.end("served");
    } catch (error) {
      response.writeHead(429, { connection: "close" }).end((error as Error).message);
    }
  });
  shares.watch(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return shares;
}

async function open(localAddress = "127.0.0.1"): Promise<Socket> {
  const client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", localAddress });
  clients.push(client);
  client.on("error", () => undefined);
  await once(client, "connect");
  return client;
}

/** The status of one request on a connection. */
async function ask(client: Socket, path: string): Promise<number> {
  client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [answer] = (await once(client, "data")) as [Buffer];
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString())?.[1]);
}

const asks = async (path: string, count: number): Promise<readonly number[]> => {
  const answers: number[] = [];
  for (let each = 0; each < count; each += 1) answers.push(await ask(await open(), path));
  return answers;
};

const known = (principal: string): ConnectionOwner => ({ principal });

describe("shares of connections", () => {
  it("refuse a principal beyond its share alone, and give back what has closed", async () => {
    const shares = await serve({ maxKnown: 40, maxOfOne: 3 });
    expect(await asks("/greedy", 4)).toEqual([200, 200, 200, 429]);
    expect(await asks("/other", 1)).toEqual([200]);
    expect(await asks("/greedy/preview", 1)).toEqual([200]);
    // An open one serves further requests.
    expect(await ask(clients[0] as Socket, "/greedy")).toBe(200);
    clients[0]?.destroy();
    while (shares.of(known("greedy")) > 2) await new Promise(setImmediate);
    expect(await asks("/greedy", 2)).toEqual([200, 429]);
  });

  it("of who looks at an owner's previews do not count for the owner's calls", async () => {
    const shares = await serve({ maxKnown: 40, maxOfOne: 2 });
    expect(await asks("/owner/preview", 3)).toEqual([200, 200, 429]);
    expect(await asks("/owner", 2)).toEqual([200, 200]);
    expect([shares.of(known("owner")), shares.of({ principal: "owner", isPreview: true })]).toEqual([2, 2]);
  });

  it("leave room for another when several take all that they may", async () => {
    await serve({ maxKnown: 40, maxOfOne: 16 });
    const taken: number[] = [];
    for (const name of ["/1", "/2", "/3", "/4"]) {
      taken.push((await asks(name, 17)).filter((status) => status === 200).length);
    }
    expect(taken).toEqual([13, 9, 6, 4]);
    expect(await asks("/late", 1)).toEqual([200]);
  });

  it("belong to whoever asked last: a proxy may send requests of several on one connection", async () => {
    const shares = await serve({});
    const client = await open();
    for (const name of ["/a", "/b"]) await ask(client, name);
    expect([shares.of(known("a")), shares.of(known("b")), shares.of(null)]).toEqual([0, 1, 0]);
  });

  it("are small for connections that show no key: the oldest is told and ends, never one with a key", async () => {
    const shares = await serve({ maxUnknown: 2 });
    const keyed = await open();
    await ask(keyed, "/a");
    const [first, second, third] = [await open(), await open(), await open()];
    expect(await text(first)).toMatch(/^HTTP\/1\.1 429 [^]*\r\nretry-after: 5\r\n[^]*"error_type":"CAPACITY"/);
    expect([await ask(second, "/open"), await ask(third, "/a"), await ask(keyed, "/a")]).toEqual([200, 200, 200]);
    expect(shares.of(null)).toBe(1);
  });

  it("end the unknown ones of the address that has most", async () => {
    await serve({ maxUnknown: 3 });
    const modest = await open("127.0.0.2");
    const greedy = [await open(), await open(), await open(), await open()];
    await Promise.all(greedy.slice(0, 2).map((client) => once(client.resume(), "close")));
    expect(await ask(modest, "/a")).toBe(200);
  });
});
