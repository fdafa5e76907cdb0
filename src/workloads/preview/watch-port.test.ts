import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { startWithinMs, watchPort } from "./watch-port.ts";

/** A watch of a port of this machine, null while nothing listens, under a clock that the test sets. */
function watch(portNow: () => number | null) {
  const clock = { ms: 0 };
  const [looks, told] = [{ count: 0 }, [] as string[]];
  const over = new AbortController();
  const watching = watchPort({
    port: 1,
    connect: async (signal) => {
      looks.count += 1;
      const port = portNow();
      if (port === null) throw new Error("nothing listens");
      const socket = connect({ port, host: "127.0.0.1" });
      await once(socket, "connect", { signal });
      return socket;
    },
    signal: over.signal,
    onAnswer: () => void told.push("answers"),
    onSilence: (state, hasAnswered) => void told.push(`${state} ${hasAnswered}`),
    monotonicMs: () => clock.ms,
  });
  const moreLooks = async (): Promise<void> => {
    const seen = looks.count;
    await expect.poll(() => looks.count, { timeout: 20_000 }).toBeGreaterThan(seen + 1);
  };
  return { clock, told, moreLooks, end: () => (over.abort(), watching) };
}

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

describe("a preview whose port", () => {
  it("does not answer is told of when its two minutes are over and not before, once, and answers later", async () => {
    let port: number | null = null;
    const { clock, told, moreLooks, end } = watch(() => port);
    clock.ms = startWithinMs - 1;
    await moreLooks();
    expect(told).toEqual([]);
    clock.ms = startWithinMs;
    await moreLooks();
    await moreLooks();
    expect(told).toEqual(["closed false"]);
    const server = createHttpServer((_, response) => response.end("page"));
    port = await portOf(server);
    await expect.poll(() => told, { timeout: 20_000 }).toEqual(["closed false", "answers"]);
    await end();
    server.close();
  });

  it("takes connections and says nothing in HTTP is silent, not closed", async () => {
    const server = createServer((socket) => socket.on("error", () => undefined).end("no HTTP"));
    const port = await portOf(server);
    const { clock, told, moreLooks, end } = watch(() => port);
    await moreLooks();
    expect(told).toEqual([]);
    clock.ms = startWithinMs;
    await moreLooks();
    expect(told).toEqual(["silent false"]);
    await end();
    server.close();
  });
});
