import { describe, expect, it } from "vitest";
import { checkImageReference, isSameImage } from "./image-reference.ts";

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

describe("checkImageReference", () => {
  it.each([
    "python",
    "python:3.12-slim",
    "node:24-slim",
    "team/tool",
    "a/b/c/d:1",
    "localhost/x:1",
    "localhost:5000/x",
    "127.0.0.1:5000/glovebox-test/python:1",
    "[::1]:5000/x:1",
    "registry.example/x/y",
    "Registry.Example:5000/x",
    `python@${digest}`,
    `registry.example:5000/team/tool:1.2@${digest}`,
    "a__b/c-d.e_f--g",
    "x:_T.a-g",
    `x:${"t".repeat(128)}`,
    "a".repeat(255),
    digest,
  ])("accepts %s", (reference) => {
    expect(checkImageReference(reference)).toBe(reference);
  });

  it.each([
    ["", "an image reference"],
    ["-rm", "lower-case letters"],
    ["--privileged", "lower-case letters"],
    ["python; rm -rf /", "lower-case letters"],
    ["python:3;id", "tag"],
    ["$(id)", "lower-case letters"],
    ["`id`", "lower-case letters"],
    ["python|sh", "lower-case letters"],
    ["python&", "lower-case letters"],
    ["py thon", "lower-case letters"],
    [" python", "lower-case letters"],
    ["python\n", "lower-case letters"],
    ["python:3\n", "tag"],
    ["python\0", "lower-case letters"],
    ["Python:3", "lower-case letters"],
    ["Team/tool", "lower-case letters"],
    ["../x", "lower-case letters|registry"],
    ["/x", "lower-case letters"],
    ["x/", "lower-case letters"],
    ["a//b", "lower-case letters"],
    ["a..b", "lower-case letters"],
    ["a___b", "lower-case letters"],
    ["a-", "lower-case letters"],
    ["-a.example/x", "registry"],
    ["a.example:port/x", "registry"],
    ["registry.example/", "lower-case letters"],
    ["x:", "tag"],
    ["x:.t", "tag"],
    ["x:-t", "tag"],
    ["x:a:b", "tag"],
    [`x:${"t".repeat(129)}`, "tag"],
    ["x@", "digest"],
    ["x@sha256:12", "digest"],
    [`x@sha256:${"g".repeat(64)}`, "digest"],
    [`x@${digest}@${digest}`, 'one "@"'],
    [`@${digest}`, "lower-case letters"],
    [`x@sha256:${"0".repeat(63)}`, "digest"],
    [`x@sha256:${"A".repeat(64)}`, "digest"],
    ["sha256:0123456789ab", "whole image id"],
    ["sha256", "whole image id"],
    ["sha512:0123", "whole image id"],
    ["0123456789abcdef".repeat(4), "whole image id"],
    ["user@registry.example/x", "digest"],
    ["user:password@registry.example/x", "digest"],
    ["registry.example./x", "registry"],
    ["registry.example:0/x", "registry"],
    ["registry.example:05000/x", "registry"],
    ["registry.example:65536/x", "registry"],
    ["registry.example:5000%2fx", "tag"],
    ["glovebox-content:1", "does not keep for itself"],
    ["localhost/glovebox-made:img-1", "does not keep for itself"],
    ["a".repeat(256), "at most 255"],
    ["a".repeat(1_000_000), "shorter"],
    [`${"a-".repeat(120)}!`, "lower-case letters"],
    ["https://registry.example/x", "registry"],
    ["é", "lower-case letters"],
  ])("refuses %j with an example", (reference, words) => {
    expect(() => checkImageReference(reference)).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        context: { field: "image" },
        message: expect.stringMatching(
          new RegExp(`^image: expected .*(${words}).*such as python:3\\.12-slim`),
        ) as string,
      }),
    );
  });
});

describe("isSameImage", () => {
  it.each([
    ["python", "docker.io/library/python:latest", true],
    ["python", "index.docker.io/python", true],
    ["team/x:1", "DOCKER.io/team/x:1", true],
    [`x:1@${digest}`, `x:2@${digest}`, true],
    ["python", "localhost/python", false],
    ["python", "team/python", false],
    ["x:1", "x:2", false],
    ["x:T", "x:t", false],
    [`x@${digest}`, "x", false],
    [digest, `x@${digest}`, false],
    ["x:", "x:", false],
  ])("%s and %s: %s", (one, other, expected) => {
    expect(isSameImage(one, other)).toBe(expected);
  });
});
