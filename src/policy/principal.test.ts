import { expect, it } from "vitest";
import { isPrincipal } from "./principal.ts";

it.each([
  ["local", true],
  ["key:4k2m7q9x1w3e", true],
  ["4k2m7q9x1w3e", false],
  ["ci", false],
  ["key:ci", false],
  ["key:gbx_4k2m7q9x1w3e", false],
  ["key:4K2M7Q9X1W3E", false],
  ["", false],
])("%j is a principal: %j", (text, expected) => {
  expect(isPrincipal(text)).toBe(expected);
});
