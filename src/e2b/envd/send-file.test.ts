import { EventEmitter } from "node:events";
import { expect, it, vi } from "vitest";
import { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import type { OperationCall } from "../../operations/contract/operation-contract.ts";
import type { E2bContext } from "../e2b-request.ts";
import type { Exchange } from "../exchange.ts";
import type { E2bSandbox } from "../e2b-sandbox.ts";
import { sendFile } from "./serve-files.ts";

/** What comes to the reader of a file that had three bytes when it was opened. */
async function sentOf(content: string): Promise<readonly [string, "ended" | "cut"]> {
  let sent = "";
  const response = Object.assign(new EventEmitter(), {
    writeHead: vi.fn(),
    write: (bytes: Uint8Array) => {
      sent += Buffer.from(bytes).toString();
      return true;
    },
    end: vi.fn(),
    destroy: vi.fn(),
  });
  const call = async (_: unknown, __: unknown, { onContent, onEvent }: OperationCall): Promise<unknown> => {
    onContent?.({ sizeBytes: 3, offset: 0, length: 3 });
    await onEvent?.({ type: "output", stream: "stdout", bytes: Buffer.from(content) });
    return {};
  };
  await sendFile(
    { platform: { call }, inFlight: new BytesInFlight() } as unknown as E2bContext,
    {
      response,
      query: new URLSearchParams({ path: "a" }),
      signal: new AbortController().signal,
    } as unknown as Exchange,
    { sessionId: "s", caller: { principal: "p" }, ended: new AbortController().signal } as unknown as E2bSandbox,
  );
  expect(response.writeHead).toHaveBeenCalledWith(200, expect.objectContaining({ "content-length": "3" }));
  expect(response.end.mock.calls.length + response.destroy.mock.calls.length).toBe(1);
  return [sent, response.end.mock.calls.length === 1 ? "ended" : "cut"];
}

it("sends no more than it announced, and cuts off an answer that became shorter", async () => {
  expect(await sentOf("abc")).toEqual(["abc", "ended"]);
  expect(await sentOf("abcHTTP/1.1 200 OK")).toEqual(["abc", "ended"]);
  expect(await sentOf("ab")).toEqual(["ab", "cut"]);
});
