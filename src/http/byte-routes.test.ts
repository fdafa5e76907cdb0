import { expect, it } from "vitest";
import { readRange } from "./byte-routes.ts";

it.each([
  [undefined, {}],
  ["bytes=0-0", { offset: 0, limit: 1 }],
  ["bytes=5-", { offset: 5 }],
  ["Bytes= 2 - 9", { offset: 2, limit: 8 }],
  ["bytes=-7", { last: 7 }],
  ["lines=1-2", {}],
  ["bytes", {}],
])("the range %j wants %j", (range, part) => expect(readRange({ range })).toEqual(part));

it.each([
  "bytes=",
  "bytes=-",
  "bytes=-0",
  "bytes=9-2",
  "bytes=0-1,4-5",
  "bytes=a-b",
  "bytes=0x1-2",
  "bytes=1-9999999999999999",
])("refuses the range %j", (range) =>
  expect(() => readRange({ range })).toThrow(expect.objectContaining({ httpStatus: 416 })),
);

it("is ignored beside If-Range, because no file here has a validator", () => {
  expect(readRange({ range: "bytes=1-2", "if-range": '"x"' })).toEqual({});
});
