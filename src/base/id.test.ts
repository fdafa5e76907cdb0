import { expect, it } from "vitest";
import { createId, createToken, tokenForm } from "./id.ts";

it("makes names that engines accept, different each time", () => {
  const ids = new Set(Array.from({ length: 100 }, () => createId("sbx")));
  expect(ids.size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^sbx-[0-9a-hjkmnp-tv-z]{20}$/);
});

it("makes tokens that are labels of hosts, different each time", () => {
  const tokens = new Set(Array.from({ length: 100 }, () => createToken()));
  expect(tokens.size).toBe(100);
  for (const token of tokens) expect(token).toMatch(tokenForm);
});
