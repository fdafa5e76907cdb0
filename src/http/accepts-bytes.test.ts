import { expect, it } from "vitest";
import { acceptsBytes } from "./accepts-bytes.ts";

it.each([
  [undefined, false],
  ["*/*", false],
  ["application/json", false],
  ["application/octet-stream", true],
  ["application/octet-stream, */*;q=0.5", true],
  ["Application/Octet-Stream;q=0.2, application/json", false],
  ["application/json, application/octet-stream", false],
  ["application/octet-stream;q=0", false],
])("Accept: %s asks for bytes: %s", (accept, expected) => {
  expect(acceptsBytes({ ...(accept === undefined ? {} : { accept }) })).toBe(expected);
});
