import { expect, it } from "vitest";
import { settingsOverrides } from "./host-config.ts";

it("turns sections into dotted paths and keeps lists whole", () => {
  const settings = {
    max_output_bytes: 5,
    images: { python: "a:1", javascript: undefined },
    environment_allowlist: ["A", "B"],
  };
  expect(settingsOverrides(settings)).toEqual({
    max_output_bytes: 5,
    "images.python": "a:1",
    environment_allowlist: ["A", "B"],
  });
});
