import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { settlesWithin } from "../base/abort.ts";
import { BytesInFlight } from "../calls/bytes-in-flight.ts";
import { sendResponse } from "./http-messages.ts";

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Serves one answer, and tells what it held while it was sent. */
async function serve(answer: () => Response): Promise<{ readonly url: string; readonly inFlight: BytesInFlight }> {
  const inFlight = new BytesInFlight();
  server = createServer((_, response) => {
    const held = inFlight.hold("a");
    response.once("close", () => held.release());
    void sendResponse(answer(), response, held);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, inFlight };
}

/** A stream that queues without a bound, as the SDK's do. */
function streamOf(pieces: number, bytes: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (let count = 0; count < pieces; count += 1) controller.enqueue(Buffer.alloc(bytes, "a"));
      controller.close();
    },
  });
}

describe("an answer of the SDK", () => {
  it("is sent whole to a reader that takes it, and gives back what it held", async () => {
    const { url, inFlight } = await serve(
      () => new Response(streamOf(20, 1_000_000), { status: 202, headers: { "x-own": "1" } }),
    );
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get("x-own")]).toEqual([202, "1"]);
    expect((await answer.bytes()).length).toBe(20_000_000);
    expect(inFlight.of("a")).toEqual({ bytes: 0, messages: 0 });
  });

  it("ends its reader when more is unread than its principal may have", async () => {
    const { url, inFlight } = await serve(() => new Response(streamOf(100, 1_000_000)));
    inFlight.hold("a", 50_000_000);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {
      // The server ends it.
    });
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const [, response] = (await once(server, "request")) as [unknown, NodeJS.EventEmitter];
    expect(await settlesWithin(once(response, "close"), 10_000)).toBe(true);
    expect(inFlight.of("a")).toEqual({ bytes: 50_000_000, messages: 1 });
    socket.destroy();
  });
});
