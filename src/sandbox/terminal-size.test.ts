import { expect, it } from "vitest";
import { sensibleSize } from "./terminal-size.ts";

it("takes sizes that make no sense for those of an ordinary terminal", () => {
  expect(sensibleSize({ columns: 132, rows: 50 })).toEqual({ columns: 132, rows: 50 });
  expect(sensibleSize({ columns: 0, rows: -1 })).toEqual({ columns: 80, rows: 24 });
  expect(sensibleSize({ columns: 1e9, rows: Number.NaN })).toEqual({ columns: 80, rows: 24 });
});
