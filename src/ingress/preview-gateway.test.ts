import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { until } from "../../test/helpers/until.ts";
import { ConnectionShares } from "../base/http/connections.ts";
import type { PreviewRoom } from "./preview-gate.ts";
import { PreviewGateway, type PreviewDomain } from "./preview-gateway.ts";

const target = {
  principal: "local",
  port: () => 3000,
  connect: () => Promise.reject(new Error("none")),
  isStarting: () => true,
};

const roomOf = (connections: ConnectionShares): PreviewRoom => ({
  connections,
  hold: () => ({ release: () => undefined }),
});

async function addressesOf(
  domain: PreviewDomain | null,
  place: Parameters<PreviewGateway["servedAt"]>[0] | null,
): Promise<readonly (string | null)[]> {
  const gateway = new PreviewGateway({ domain, backend: null, readToken: () => Promise.resolve(null) });
  if (place !== null) gateway.servedAt(place);
  const opened = await gateway.open(target);
  const token = /\/\/(.{32})\./.exec(opened.url)?.[1] ?? "";
  opened.close();
  return [opened.url, opened.directUrl].map(
    (url) => url?.replace(token, "TOKEN").replace(/:\d{5}\//, ":PORT/") ?? null,
  );
}

it("a preview is reached by its name at the server's port, below the operator's domain, or at a port of its own", async () => {
  const room = roomOf(new ConnectionShares());
  const local = { port: 8420, isLoopback: true, room };
  const open = { port: 8420, isLoopback: false, room };
  const domain = { scheme: "https", name: "preview.example", port: null } as const;
  const direct = "http://127.0.0.1:PORT/";
  expect(await addressesOf(null, null)).toEqual(["http://TOKEN.localhost:PORT/", direct]);
  expect(await addressesOf(null, local)).toEqual(["http://TOKEN.localhost:8420/", direct]);
  expect(await addressesOf(null, open)).toEqual(["http://TOKEN.localhost:8420/", null]);
  expect(await addressesOf(domain, open)).toEqual(["https://TOKEN.preview.example/", null]);
  expect(await addressesOf({ ...domain, port: 8443 }, open)).toEqual(["https://TOKEN.preview.example:8443/", null]);
  expect(await addressesOf({ ...domain, scheme: "http" }, open)).toEqual(["http://TOKEN.preview.example:8420/", null]);
  // Without a server nobody leads the domain here.
  expect(await addressesOf(domain, null)).toEqual(["http://TOKEN.localhost:PORT/", direct]);
});

it("connections to all previews of one owner have a share of their own, and one too many is refused alone", async () => {
  const connections = new ConnectionShares({ maxOfOne: 2 });
  const gateway = new PreviewGateway({ domain: null, backend: null, readToken: () => Promise.resolve(null) });
  gateway.servedAt({ port: 8420, isLoopback: true, room: roomOf(connections) });
  const asked: string[] = [];
  // A program that never answers: its connections stay open.
  const openOf = (principal: string) =>
    gateway.open({ ...target, principal, connect: () => (asked.push(principal), new Promise(() => undefined)) });
  const opened = [await openOf("one"), await openOf("one"), await openOf("other")];
  const sockets: Socket[] = [];
  const heard: string[] = [];
  const ask = (number: number, headers = ""): void => {
    const { port, host } = new URL(opened[number]?.directUrl ?? "");
    const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`);
    sockets.push(socket.on("data", (answer) => heard.push(String(answer))));
  };
  ask(0, upgrade);
  ask(1);
  await until(() => asked.length === 2);
  for (const headers of ["", upgrade]) ask(0, headers);
  await until(() => asked.length + heard.length === 4);
  const refused = /^HTTP\/1\.1 503 [^]*\r\nretry-after: 5\r\n[^]*Too many connections to previews of this owner/;
  expect(heard).toEqual([expect.stringMatching(refused), expect.stringMatching(refused)]);
  ask(2);
  await until(() => asked.length === 3);
  expect(asked).toEqual(["one", "one", "other"]);
  // One that closes makes room.
  sockets[1]?.destroy();
  await until(() => connections.of({ principal: "one", isPreview: true }) === 1);
  ask(0);
  await until(() => asked.length === 4);
  for (const socket of sockets) socket.destroy();
  for (const each of opened) each.close();
});

const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";

it("what is on its way to previews counts for their owner, until each request is over", async () => {
  const held = new Map<string, number>();
  const hold = (principal: string): { release(): void } => {
    const count = held.get(principal) ?? 0;
    if (count === 1) throw new GloveboxError("CAPACITY", "Full.");
    held.set(principal, count + 1);
    return { release: () => void held.set(principal, (held.get(principal) ?? 0) - 1) };
  };
  const gateway = new PreviewGateway({ domain: null, backend: null, readToken: () => Promise.resolve(null) });
  gateway.servedAt({ port: 8420, isLoopback: true, room: { connections: new ConnectionShares(), hold } });
  const connect = () => new Promise<never>(() => undefined);
  const opened = [await gateway.open({ ...target, connect }), await gateway.open({ ...target, principal: "other" })];
  const ask = (number: number, signal: AbortSignal = AbortSignal.timeout(10_000)): Promise<number> =>
    fetch(opened[number]?.directUrl ?? "", { signal }).then(
      ({ status }) => status,
      () => 0,
    );
  const leaving = new AbortController();
  const first = ask(0, leaving.signal);
  await expect.poll(() => held.get("local")).toBe(1);
  expect([await ask(0), await ask(1)]).toEqual([503, 503]);
  expect([...held]).toEqual([
    ["local", 1],
    ["other", 0],
  ]);
  leaving.abort();
  await first;
  await until(() => held.get("local") === 0);
  for (const each of opened) each.close();
});
