import { expect, it } from "vitest";
import { E2bRefusal } from "../../http/refusal.ts";
import type { RpcCall } from "../rpc/rpc-call.ts";
import { attributesAsked, setAttributes } from "./upload-attributes.ts";

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
