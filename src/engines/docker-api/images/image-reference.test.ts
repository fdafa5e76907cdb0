import { describe, expect, it } from "vitest";
import { imagePath, parseImageReference } from "./image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("parseImageReference", () => {
  it.each([
    ["python", null, "python", "latest"],
    ["python:3.13-slim", null, "python", "3.13-slim"],
    ["user/tool__x.y:V1", null, "user/tool__x.y", "V1"],
    ["localhost/a", "localhost", "localhost/a", "latest"],
    ["127.0.0.1:5000/a/b:1", "127.0.0.1:5000", "127.0.0.1:5000/a/b", "1"],
    ["registry.example/a/b/c", "registry.example", "registry.example/a/b/c", "latest"],
    ["host:5000/a", "host:5000", "host:5000/a", "latest"],
    [`python@${digest}`, null, "python", digest],
    [`registry.example/a:1@${digest}`, "registry.example", "registry.example/a", digest],
  ])("takes %s apart", (reference, registry, name, tag) => {
    expect(parseImageReference(reference)).toEqual({ registry, name, tag });
  });

  it.each(["", "Python", "a b", "../x", "a/../b", "a?b=1", "a#b", "a:", ":tag", "a@sha256:short", "a//b", "-x"])(
    "refuses %j",
    (reference) => {
      expect(() => parseImageReference(reference)).toThrow(
        expect.objectContaining({ errorType: "INVALID_REQUEST", context: { field: "image" } }),
      );
    },
  );
});

describe("imagePath", () => {
  it("refuses a name that would leave its place in the path", () => {
    expect(imagePath("a/b:1", "json")).toBe("/images/a/b:1/json");
    expect(() => imagePath("../containers/x", "json")).toThrow("image");
  });
});
