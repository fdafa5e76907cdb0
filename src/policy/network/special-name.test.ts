import { expect, it } from "vitest";
import { isSpecialName } from "./special-name.ts";

it.each([
  ["localhost", true],
  ["a.localhost", true],
  ["metadata.google.internal", true],
  ["printer.local", true],
  ["wiki.corp", true],
  ["1.0.0.127.in-addr.arpa", true],
  ["intranet", true],
  ["example.com", false],
  ["local.example.com", false],
  ["localhost.example", false],
])("%s is special: %j", (name, expected) => {
  expect(isSpecialName(name)).toBe(expected);
});
