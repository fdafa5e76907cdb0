import path from "node:path";
import { expect, it } from "vitest";
import { pathOnServer } from "./open-calls.ts";

const here = { isLoopback: true };
const elsewhere = { isLoopback: false };

it("is this machine's own where the server is here", () => {
  expect(pathOnServer(undefined, here)).toBe(process.cwd());
  expect(pathOnServer("shop", here)).toBe(path.resolve("shop"));
  expect(pathOnServer("/srv/shop", here)).toBe("/srv/shop");
});

it("must be absolute where it is not", () => {
  expect(pathOnServer("/srv/shop", elsewhere)).toBe("/srv/shop");
  expect(pathOnServer("C:\\shop", elsewhere)).toBe("C:\\shop");
  for (const given of [undefined, ".", "shop"])
    expect(() => pathOnServer(given, elsewhere)).toThrow(/^PATH: expected an absolute path of a folder on the server/);
});
