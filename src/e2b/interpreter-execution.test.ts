import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { ExecutionStream } from "./interpreter-execution.ts";

afterEach(() => void vi.useRealTimers());

it("begins by itself, and sends no signs of life to a client that does not read", async () => {
  vi.useFakeTimers();
  // Without a connection, what is written waits.
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const written = vi.spyOn(response, "write");
  const stream = new ExecutionStream(response, { type: "first" });
  expect(stream.hasBegun).toBe(false);
  await vi.advanceTimersByTimeAsync(5_100);
  expect(written.mock.calls.map(([line]) => String(line))).toEqual(['{"type":"first"}\n', '{"type":"keepalive"}\n']);
  void stream.send({ type: "stdout", text: "x".repeat(1_000_000) });
  await vi.advanceTimersByTimeAsync(600_000);
  expect([written.mock.calls.length, response.listenerCount("drain")]).toEqual([3, 1]);
  stream.stop();
});
