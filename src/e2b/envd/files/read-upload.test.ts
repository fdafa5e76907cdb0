import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { mebibyte } from "../../../base/bytes.ts";
import { BytesInFlight } from "../../../calls/bytes-in-flight.ts";
import type { Exchange } from "../../http/exchange.ts";
import { readUpload, type UploadedFile } from "./read-upload.ts";

function uploadOf(body: Buffer): Exchange {
  const request = Object.assign(new PassThrough(), {
    headers: { "content-type": "application/octet-stream", "content-encoding": "gzip" },
  });
  request.end(body);
  return {
    request: request as unknown as Exchange["request"],
    response: new EventEmitter() as ServerResponse,
    path: "/files",
    query: new URLSearchParams({ path: "a" }),
    signal: new AbortController().signal,
  };
}

it("counts what a compressed upload may become before it is unpacked, until it is answered", async () => {
  const inFlight = new BytesInFlight();
  const others = inFlight.hold("key:a", 50 * mebibyte);
  const contents = (files: readonly UploadedFile[]): Promise<string[]> =>
    Promise.all(files.map(async ({ chunks }) => text(chunks)));
  const exchange = uploadOf(gzipSync("text"));
  expect(await contents(await readUpload(exchange, inFlight, "key:a"))).toEqual(["text"]);
  const refused = readUpload(uploadOf(gzipSync("text")), inFlight, "key:a");
  await expect(refused).rejects.toMatchObject({ errorType: "CAPACITY" });
  exchange.response.emit("close");
  others.release();
  expect(await readUpload(uploadOf(gzipSync("text")), inFlight, "key:a")).toHaveLength(1);
});
