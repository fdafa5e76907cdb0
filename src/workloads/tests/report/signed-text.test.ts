import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { textKeys, verifiedText } from "../test-phase.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

it("each start of a tool has a file and a key of its own, which grow from the seed that it found", () => {
  const keys = textKeys("seed");
  expect(new Set(keys.flatMap(({ file, key }) => [file, key])).size).toBe(keys.length * 2);
  expect(textKeys(hash("next seed")).slice(0, 2)).toEqual(keys.slice(2, 4));
});

it("a text counts with the signature of its key alone", () => {
  const signed = (key: string, body: string): Uint8Array => Buffer.from(`${hash(key + hash(key + body))}\n${body}`);
  expect(Buffer.from(verifiedText(signed("key", "all of it\n"), "key") ?? []).toString()).toBe("all of it\n");
  expect(verifiedText(signed("another", "all of it\n"), "key")).toBeNull();
  expect(verifiedText(Buffer.from(`${hash("key")}\n`), "key")).toBeNull();
  expect(verifiedText(Buffer.from("no line"), "key")).toBeNull();
});
