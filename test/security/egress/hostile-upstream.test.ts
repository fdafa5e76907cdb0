import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "../../helpers/proxy-client.ts";
import { DnsServer } from "../../helpers/dns-server.ts";
import { ProxySubject, type OpenedChannel } from "../../helpers/proxy-subject.ts";
import { hostileAnswers, type HostileAnswer } from "./hostile-answers.ts";
import { RawServer, sendPieces } from "./raw-server.ts";
import { readStrictly, type StrictMessage } from "./strict-http.ts";

const answers = Object.entries(hostileAnswers);
const dns = await DnsServer.start(() => [{ a: "127.0.0.1" }]);
const server = await RawServer.start((head, socket) => {
  const [, number = ""] = /^\S+ \/(\d+)/.exec(head) ?? [];
  const answer = answers[Number(number)]?.[1];
  if (number !== "" && answer !== undefined) return sendPieces(socket, answer.pieces, answer.staysOpen);
  if (!head.includes("/endless")) return void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell");
  socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  const more = setInterval(() => socket.write("2\r\non\r\n"), 20);
  socket.once("close", () => clearInterval(more));
});
const at = `web.test:${server.port}`;
const get = (path: string, method = "GET"): string =>
  `${method} http://${at}/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

let proxy: ProxySubject;
let channel: OpenedChannel;
let neighbour: OpenedChannel;
beforeAll(async () => {
  proxy = await ProxySubject.start({ dnsServer: dns.address });
  channel = await proxy.open(at);
  neighbour = await proxy.open(at);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  server[Symbol.dispose]();
  dns.close();
});

const rows = answers.map(([name, answer], index) => ({ name, index, ...answer }));
const rowsThatBecome = (end: HostileAnswer["becomes"]): typeof rows => rows.filter(({ becomes }) => becomes === end);

interface Asked {
  readonly answer: Answer;
  readonly read: StrictMessage | string;
  readonly hasNoBody: boolean;
}

async function ask({ index, staysOpen }: (typeof rows)[number]): Promise<Asked> {
  const answer = await channel.client.ask(get(String(index)), { withinMs: staysOpen === true ? 500 : 8_000 });
  const hasNoBody = /^HTTP\/1\.1 (204|304)/.test(answer.text);
  return { answer, hasNoBody, read: readStrictly(answer.bytes, { hasNoBody }) };
}

async function neighbourHears(): Promise<string> {
  return (await neighbour.client.ask(get("well"))).text;
}

describe("an allowed host that answers with", () => {
  it.each(rowsThatBecome("passed"))("$name harms its own stream at most", async (row) => {
    const { answer, read, hasNoBody } = await ask(row);
    expect(answer.end).toBe("end");
    expect(read).toMatchObject({
      startLine: expect.stringMatching(/^HTTP\/1\.1 (200|204|304)/),
      body: Buffer.from(hasNoBody ? "" : "hi"),
      rest: Buffer.alloc(0),
    });
    expect(await neighbourHears()).toMatch(/ 200 OK.*well$/s);
  });

  it.each(rowsThatBecome("refused"))("$name harms its own stream at most", async (row) => {
    const { answer, read } = await ask(row);
    expect(answer.end).not.toBe("channel");
    expect(answer.text).toContain(row.says ?? "");
    expect(answer.text === "" ? "HTTP/1.1 502 Bad Gateway" : (read as StrictMessage).startLine).toBe(
      "HTTP/1.1 502 Bad Gateway",
    );
    expect(await neighbourHears()).toMatch(/ 200 OK.*well$/s);
  });

  it.each(rowsThatBecome("broken"))("$name harms its own stream at most", async (row) => {
    const { answer, read } = await ask(row);
    const isRefused = answer.text.startsWith("HTTP/1.1 502 ");
    // An answer that breaks off must not look complete.
    expect(isRefused || answer.text === "" ? "too short" : read).toMatch(/too short|without a size|without an end/);
    expect(answer.end).toBe(row.staysOpen === true ? "late" : isRefused ? "end" : "reset");
    expect(await neighbourHears()).toMatch(/ 200 OK.*well$/s);
  });

  it("all of them at once leaves a neighbour's download as it was", async () => {
    const connection = neighbour.client.connect();
    let seen = "";
    const endless = neighbour.client.answerOf(connection, {
      withinMs: 30_000,
      until: (text) => {
        seen = text;
        return text.includes("done");
      },
    });
    neighbour.client.send(2, connection, Buffer.from(get("endless")));
    const ended = await Promise.all(
      answers.map((_, index) => channel.client.ask(get(String(index)), { withinMs: 3_000 })),
    );
    expect(ended.filter(({ end }) => end === "channel")).toEqual([]);
    const before = seen.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(seen.length).toBeGreaterThan(before);
    neighbour.client.send(4, connection);
    void endless;
    expect(proxy.hasEnded).toBe(false);
  });

  it("a body for HEAD gives the client none", async () => {
    const index = answers.findIndex(([name]) => name === "a body that is too long");
    const answer = await channel.client.ask(get(String(index), "HEAD"));
    expect(readStrictly(answer.bytes, { hasNoBody: true })).toMatchObject({ rest: Buffer.alloc(0) });
  });
});
