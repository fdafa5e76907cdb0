import { expect, it } from "vitest";
import { createId } from "./id.ts";

it("makes names that engines accept, different each time", () => {
  const ids = new Set(Array.from({ length: 100 }, () => createId("sbx")));
  expect(ids.size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^sbx-[0-9a-hjkmnp-tv-z]{20}$/);
});
