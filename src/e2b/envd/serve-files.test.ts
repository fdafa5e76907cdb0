import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { expect, it, describe } from "vitest";
import { mebibyte } from "../../base/bytes.ts";
import { BytesInFlight } from "../../calls/bytes-in-flight.ts";
import type { Exchange } from "../exchange.ts";
import {
  readUpload,
  hasExpired,
  isSignature,
  signatureOf,
  attributesAsked,
  setAttributes,
  type UploadedFile,
} from "./serve-files.ts";
import { E2bRefusal } from "../refusal.ts";
import type { RpcCall } from "../e2b-request.ts";

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

const token = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0";
const file = { path: "hello.txt", operation: "read", username: "user", expiration: null } as const;

describe("signatures of files", () => {
  it("are those of E2B's SDKs", () => {
    expect(signatureOf(file, token)).toBe("v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
  });

  it("are good for one path, one operation, one user, one time and one token", () => {
    const shown = signatureOf(file, token);
    expect(isSignature(shown, file, token)).toBe(true);
    const others = [{ path: "hello.tx" }, { operation: "write" }, { username: "" }, { expiration: "1" }] as const;
    for (const other of others) expect(isSignature(shown, { ...file, ...other }, token)).toBe(false);
    expect(isSignature(shown, file, `${token}x`)).toBe(false);
    expect(isSignature("", file, token)).toBe(false);
  });

  it("expire at their second, and at once if it is no number", () => {
    const at = (expiration: string | null): boolean => hasExpired({ ...file, expiration }, 1_700_000_000_000);
    expect([null, "1700000000", "1699999999", "-1", "1e99", ""].map(at)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
  });
});

it("takes the attributes of an upload's headers, and only what fits", () => {
  const headers = { "x-metadata-author": "mish", "x-metadata-__proto__": "x y", "content-type": "text/plain" };
  expect(Object.entries(attributesAsked(headers))).toEqual([
    ["author", "mish"],
    ["__proto__", "x y"],
  ]);
  const refused = [
    { "x-metadata-": "no name" },
    { "x-metadata-a": "caf\u{e9}" },
    { "x-metadata-a": "tab\there" },
    { [`x-metadata-${"n".repeat(247)}`]: "x" },
    { "x-metadata-a": "x".repeat(4096) },
    Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-metadata-${index}`, "x"])),
  ];
  for (const each of refused) expect(() => attributesAsked(each), JSON.stringify(each)).toThrow(E2bRefusal);
});

it("says by name that a file system keeps no attributes, or has no room for them", async () => {
  const answered = (exitCode: number): Promise<void> => {
    const call = {
      context: { platform: { call: () => Promise.resolve({ exit_code: exitCode }) } },
      exchange: { signal: new AbortController().signal },
      target: { sandbox: { caller: { principal: "" }, ended: new AbortController().signal }, sandboxId: "" },
    };
    return setAttributes(call as unknown as RpcCall, "/a", { name: "value" });
  };
  await answered(0);
  for (const [exitCode, status] of [
    [4, 400],
    [127, 400],
    [5, 507],
    [1, 500],
  ] as const) {
    await expect(answered(exitCode)).rejects.toMatchObject({ status, message: expect.stringContaining("X-Metadata") });
  }
});
